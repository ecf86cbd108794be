#include "net/tls_follower.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/virtual_loop.h"

namespace trainyard::net::test {
namespace {

// Accepts certificates that begin with "good".
class Server final : public HttpServer {
 public:
  [[nodiscard]] std::uint16_t port() const override { return 0; }
  [[nodiscard]] base::Result<void> reloadTls(const TlsServerConfig& tls) override {
    if (!tls.certificatePem.starts_with("good")) return base::fail(base::ErrorCode::kInvalid, "no PEM");
    taken.push_back(tls.certificatePem);
    return {};
  }

  std::vector<std::string> taken;
};

class Lines final : public base::LogSink {
 public:
  void write(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

struct Fixture {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("trainyard-follow-{}", getpid());
  base::VirtualLoop loop;
  Server server;
  Lines log;

  Fixture() { std::filesystem::create_directory(folder); }
  ~Fixture() { std::filesystem::remove_all(folder); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void write(std::string_view certificate) const {
    std::ofstream(folder / "crt") << certificate;
    std::ofstream(folder / "key") << "key";
  }
  TlsFollower follow(TlsServerConfig now) {
    return {TlsFiles{.certificate = folder / "crt", .privateKey = folder / "key"}, std::move(now), server,
            loop, base::Logger(log, base::LogLevel::kInfo, "test")};
  }
};

TEST_CASE_METHOD(Fixture, "A server gets a certificate only when its files have another one") {
  write("good 1");
  const TlsFollower follower = follow({.certificatePem = "good 1", .privateKeyPem = "key"});
  loop.runFor(TlsFollower::kPoll * 2);
  CHECK(server.taken.empty());
  write("good 2");
  loop.runFor(TlsFollower::kPoll * 2);
  CHECK(server.taken == std::vector<std::string>{"good 2"});
}

TEST_CASE_METHOD(Fixture, "Unusable files are reported once and change nothing") {
  const TlsFollower follower = follow({.certificatePem = "made", .privateKeyPem = "key"});
  loop.runFor(TlsFollower::kPoll * 3);
  CHECK(log.lines.size() == 1);
  write("bad");
  loop.runFor(TlsFollower::kPoll * 3);
  CHECK(log.lines.size() == 2);
  CHECK(server.taken.empty());
  write("good");
  loop.runFor(TlsFollower::kPoll * 3);
  CHECK(server.taken == std::vector<std::string>{"good"});
}

}  // namespace
}  // namespace trainyard::net::test
