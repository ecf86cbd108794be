#include "operator/policy_keeper.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/virtual_loop.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Lines final : public base::LogSink {
 public:
  void write(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// A volume as the kubelet makes it: the file is a link through ..data, which is replaced.
class Volume {
 public:
  Volume() : folder_(fs::temp_directory_path() / fmt::format("policy-keeper-test-{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::create_symlink("..data/policy.yaml", folder_ / "policy.yaml");
  }
  ~Volume() { fs::remove_all(folder_); }
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "policy.yaml").string(); }
  void put(const std::string& text) {
    const std::string version = fmt::format("..v{}", ++version_);
    fs::create_directories(folder_ / version);
    std::ofstream(folder_ / version / "policy.yaml") << text;
    fs::create_directory_symlink(version, folder_ / "..new");
    fs::rename(folder_ / "..new", folder_ / "..data");
  }
  void takeAway() { fs::remove(folder_ / "..data"); }

 private:
  fs::path folder_;
  int version_ = 0;
};

struct Fixture {
  base::VirtualLoop loop;
  Lines lines;
  telemetry::MetricsRegistry metrics;
  Volume volume;
  std::vector<codec::PolicyFile> taken;
  std::vector<std::string> refused;

  base::Result<std::unique_ptr<PolicyKeeper>> open() {
    return PolicyKeeper::open(volume.path(), loop, metrics,
                              base::Logger(lines, base::LogLevel::kInfo, "policy"));
  }
  std::unique_ptr<PolicyKeeper> follow() {
    auto keeper = open();
    REQUIRE(keeper);
    (*keeper)->follow({.taken = [this](const codec::PolicyFile& file) { taken.push_back(file); },
                       .refused = [this](const std::string& why) { refused.push_back(why); }});
    return std::move(*keeper);
  }
  [[nodiscard]] bool hasLine(const std::string& sample) const {
    return metrics.text().find(sample + "\n") != std::string::npos;
  }
};

TEST_CASE("A program does not start on a policy that is missing or wrong") {
  Fixture fixture;
  CHECK(fixture.open().error().message ==
        fixture.volume.path() + ": cannot be read (No such file or directory)");
  fixture.volume.put("ordering: fast\n");
  CHECK(fixture.open().error().message ==
        fixture.volume.path() + ":1: ordering: must be fifo, las, srtf, srsf or default, not fast");
}

TEST_CASE("A policy file that changes is followed") {
  Fixture fixture;
  fixture.volume.put("ordering: las\n");
  const auto keeper = fixture.follow();
  CHECK(keeper->policy().ordering == model::Ordering::kLas);
  fixture.loop.runFor(1min);
  CHECK(fixture.taken.empty());
  CHECK(fixture.lines.lines.empty());

  fixture.volume.put("ordering: srsf\n");
  fixture.loop.runFor(5s);
  REQUIRE(fixture.taken.size() == 1);
  CHECK(fixture.taken[0].policy.ordering == model::Ordering::kSrsf);
  CHECK(keeper->file() == fixture.taken[0]);
  CHECK(fixture.hasLine("trainyard_policy_reloads_total{result=\"taken\"} 1"));
  CHECK(fixture.hasLine("trainyard_policy_reloads_total{result=\"refused\"} 0"));
}

TEST_CASE("A comment changes the file and not the policy") {
  Fixture fixture;
  fixture.volume.put("ordering: las\n");
  const auto keeper = fixture.follow();
  fixture.volume.put("# shortest first\nordering: las\n");
  fixture.loop.runFor(5s);
  CHECK(fixture.taken.empty());
  CHECK(fixture.hasLine("trainyard_policy_reloads_total{result=\"taken\"} 1"));
}

TEST_CASE("The last good policy stays while the file is bad and the error is reported once") {
  Fixture fixture;
  fixture.volume.put("ordering: las\n");
  const auto keeper = fixture.follow();
  fixture.volume.put("ordering: srsf\nrelaxation: {base: -1s}\n");
  fixture.loop.runFor(1min);
  const std::string why =
      fixture.volume.path() + ":2: relaxation.base: must be a duration such as 90s, 10m or 1h30m, not -1s";
  CHECK(fixture.refused == std::vector<std::string>{why});
  CHECK(fixture.lines.lines.size() == 1);
  CHECK(keeper->policy().ordering == model::Ordering::kLas);
  CHECK(fixture.hasLine("trainyard_policy_last_reload_success 0"));
  CHECK(fixture.hasLine("trainyard_policy_reloads_total{result=\"refused\"} 1"));

  SECTION("it is removed and comes back") {
    fixture.volume.takeAway();
    fixture.loop.runFor(1min);
    CHECK(fixture.refused.size() == 2);
    CHECK(fixture.refused.back() == fixture.volume.path() + ": cannot be read (No such file or directory)");
    fixture.volume.put("ordering: las\n");
    fixture.loop.runFor(5s);
    CHECK(fixture.taken.empty());
  }
  SECTION("it is repaired") {
    fixture.volume.put("ordering: fifo\n");
    fixture.loop.runFor(5s);
    REQUIRE(fixture.taken.size() == 1);
    CHECK(fixture.taken[0].policy.ordering == model::Ordering::kFifo);
  }
  CHECK(fixture.hasLine("trainyard_policy_last_reload_success 1"));
}

TEST_CASE("A mistake that is repeated after a repair is reported again") {
  Fixture fixture;
  fixture.volume.put("");
  const auto keeper = fixture.follow();
  for (const char* text : {"ordering: x", "", "ordering: x"}) {
    fixture.volume.put(text);
    fixture.loop.runFor(5s);
  }
  CHECK(fixture.refused.size() == 2);
}

TEST_CASE("The GPU resources are read at the start and a change of them is refused") {
  Fixture fixture;
  fixture.volume.put("gpuResources: [amd.com/gpu]");
  const auto keeper = fixture.follow();
  CHECK(keeper->policy().gpuResources == std::vector<std::string>{"amd.com/gpu"});
  fixture.volume.put("gpuResources: [nvidia.com/gpu]\nordering: fifo");
  fixture.loop.runFor(10s);
  CHECK(fixture.taken.empty());
  REQUIRE(fixture.refused.size() == 1);
  CHECK_THAT(fixture.refused[0], Catch::Contains("are read only when a program starts"));
  CHECK(fixture.hasLine("trainyard_policy_last_reload_success 0"));
  fixture.volume.put("gpuResources: [amd.com/gpu]\nordering: fifo");
  fixture.loop.runFor(10s);
  CHECK(fixture.taken.size() == 1);
}

}  // namespace
}  // namespace trainyard::operator_
