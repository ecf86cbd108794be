#include "devices/catalog.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"

namespace trainyard::devices {
namespace {

const std::string kDriver = "gpu.example.com";

model::Device device(int number, std::string model, std::string memory = "80Gi") {
  return {.name = fmt::format("gpu-{}", number),
          .attributes = {{kDriver + "/model", std::move(model)}},
          .capacity = {{kDriver + "/memory", *base::Quantity::parse(memory)}}};
}

std::shared_ptr<const model::ResourceSlice> sliceOf(const std::string& node,
                                                    std::vector<model::Device> devices) {
  return std::make_shared<const model::ResourceSlice>(model::ResourceSlice{.name = node,
                                                                           .driver = kDriver,
                                                                           .pool = node,
                                                                           .node = model::NodeName(node),
                                                                           .devices = std::move(devices)});
}

std::shared_ptr<const model::DeviceClass> classOf(std::string name, std::string extended = {}) {
  return std::make_shared<const model::DeviceClass>(
      model::DeviceClass{.name = std::move(name),
                         .selectors = {"device.driver == \"gpu.example.com\""},
                         .extendedResource = std::move(extended)});
}

model::DeviceRequest ofModel(const std::string& name) {
  return {"gpu.example.com", {fmt::format("device.attributes[\"gpu.example.com\"].model == \"{}\"", name)}};
}

model::Devices devicesOf(std::vector<std::shared_ptr<const model::ResourceSlice>> slices,
                         std::shared_ptr<const model::DeviceClass> deviceClass) {
  return {model::SharedList<model::ResourceSlice>(std::move(slices)),
          model::SharedList<model::DeviceClass>({std::move(deviceClass)}),
          {},
          {}};
}

// "NAME AMOUNT" of each.
std::vector<std::string> textsOf(const model::Resources& resources) {
  std::vector<std::string> texts;
  for (const auto& [name, amount] : resources.extendedAll())
    texts.push_back(fmt::format("{} {}", name, amount));
  return texts;
}

using Texts = std::vector<std::string>;
const model::NodeName kNode("n1");

TEST_CASE("the devices of a request count as a resource of its name") {
  MatchCache cache;
  const model::DeviceRequest any{"gpu.example.com"};
  const Catalog catalog(
      devicesOf({sliceOf("n1", {device(0, "A"), device(1, "A")})}, classOf("gpu.example.com")), {any}, {},
      cache);
  CHECK(textsOf(catalog.offered().at(kNode)) == Texts{"gpu.example.com 2"});
  CHECK(textsOf(catalog.asked(any)) == Texts{"gpu.example.com 1"});
  CHECK(textsOf(*catalog.held({kDriver, "n1", "gpu-1"})->amount) == Texts{"gpu.example.com 1"});
  CHECK(catalog.held({kDriver, "n1", "gpu-9"}) == nullptr);
}

TEST_CASE(
    "a class with an extended resource counts under that name, too, and needs no contest where all are "
    "alike") {
  MatchCache cache;
  const Catalog catalog(
      devicesOf({sliceOf("n1", {device(0, "A"), device(1, "A")}), sliceOf("n2", {device(0, "B")})},
                classOf("gpu.example.com", "nvidia.com/gpu")),
      {ofModel("A")}, {}, cache);
  CHECK(textsOf(catalog.asked(ofModel("A"))) ==
        Texts{R"(gpu.example.com[model == "A"] 1)", "nvidia.com/gpu 1"});
  CHECK(textsOf(catalog.offered().at(kNode)) ==
        Texts{R"(gpu.example.com[model == "A"] 2)", "nvidia.com/gpu 2"});
  CHECK(textsOf(catalog.offered().at(model::NodeName("n2"))) == Texts{"nvidia.com/gpu 1"});
  CHECK_FALSE(catalog.hasBeside());
}

TEST_CASE("where one set contains another, both take the contest of the smaller one") {
  MatchCache cache;
  const model::DeviceRequest any{"gpu.example.com"};
  const Catalog catalog(devicesOf({sliceOf("n1", {device(0, "A"), device(1, "B"), device(2, "B")})},
                                  classOf("gpu.example.com")),
                        {any, ofModel("A")}, {}, cache);
  const std::string contest = R"(contested gpu.example.com[model == "A"])";
  CHECK(catalog.asked(any).extended(contest) == 1);
  CHECK(catalog.asked(ofModel("A")).extended(contest) == 1);
  CHECK(catalog.offered().at(kNode).extended(contest) == 1);
  CHECK(catalog.held({kDriver, "n1", "gpu-1"})->amount->extended(contest) == 0);
}

TEST_CASE("a request that cannot be understood, or that fails for a device, has a problem") {
  MatchCache cache;
  const model::DeviceRequest numa{"gpu.example.com", {"device.attributes[\"gpu.example.com\"].numa == 0"}};
  const model::DeviceRequest absent{"none.example.com"};
  const Catalog catalog(devicesOf({sliceOf("n1", {device(0, "A")})}, classOf("gpu.example.com")),
                        {numa, absent}, {}, cache);
  CHECK(catalog.problem(numa) == "a selector fails for device gpu-0 of pool n1: no such key: numa");
  CHECK(catalog.problem(absent) == "DeviceClass none.example.com does not exist");
}

TEST_CASE("only complete pools of the newest generation count, and devices without taints") {
  MatchCache cache;
  auto partial = std::make_shared<model::ResourceSlice>(*sliceOf("n2", {device(0, "A")}));
  partial->slicesOfPool = 2;
  auto old = std::make_shared<model::ResourceSlice>(*sliceOf("n1", {device(0, "A"), device(1, "A")}));
  auto fresh = std::make_shared<model::ResourceSlice>(*sliceOf("n1", {device(0, "A")}));
  fresh->generation = 1;
  model::Device tainted = device(1, "A");
  tainted.taints = {{"sick", "", "NoSchedule"}};
  fresh->devices.push_back(tainted);
  const model::DeviceRequest any{"gpu.example.com"};
  const model::DeviceRequest brave{"gpu.example.com", {}, {{"sick", "", true}}};
  const Catalog catalog(devicesOf({old, fresh, partial}, classOf("gpu.example.com")), {any, brave}, {},
                        cache);
  CHECK(catalog.offered().size() == 1);
  CHECK(catalog.offered().at(kNode).extended("gpu.example.com") == 1);
  CHECK(catalog.offered().at(kNode).extended("gpu.example.com[tolerates sick]") == 2);
}

// kube-scheduler takes any free device that matches; the order of pods is open as well.
TEST_CASE("whatever devices are chosen in whatever order, no counted place goes without") {
  const std::vector<std::string> models{"A", "B", "C"};
  int contested = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    base::Rng rng(seed);
    std::vector<model::Device> devices;
    const auto count = 1 + rng.below(8);
    for (std::uint64_t i = 0; i < count; ++i)
      devices.push_back(
          device(static_cast<int>(i), models[rng.below(3)], rng.below(2) == 0 ? "40Gi" : "80Gi"));
    const std::vector<model::DeviceRequest> all{
        {"gpu.example.com"},
        ofModel("A"),
        ofModel("B"),
        {"gpu.example.com",
         {R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0)"}},
        {"gpu.example.com", {R"(device.attributes["gpu.example.com"].model in ["B", "C"])"}}};
    std::vector<model::DeviceRequest> used;
    for (const auto& each : all) {
      if (rng.below(2) == 0) used.push_back(each);
    }
    if (used.empty()) continue;
    MatchCache cache;
    const auto slice = sliceOf("n1", devices);
    const auto deviceClass = classOf("gpu.example.com", rng.below(2) == 0 ? "nvidia.com/gpu" : "");
    const Catalog catalog(devicesOf({slice}, deviceClass), used, {}, cache);
    model::Resources free = catalog.offered().at(kNode);
    std::vector<model::DeviceRequest> places;
    for (int tries = 0; tries < 20; ++tries) {
      const auto& request = used[rng.below(used.size())];
      if (!free.covers(catalog.asked(request))) continue;
      free.subtract(catalog.asked(request));
      places.push_back(request);
    }
    for (const auto& [name, amount] : catalog.offered().at(kNode).extendedAll())
      contested += name.starts_with("contested") ? 1 : 0;
    for (int order = 0; order < 20; ++order) {
      std::vector<bool> taken(devices.size());
      std::vector<model::DeviceRequest> next = places;
      while (!next.empty()) {
        const std::size_t at = rng.below(next.size());
        const RequestMatcher matcher(next[at], deviceClass);
        next.erase(next.begin() + static_cast<std::ptrdiff_t>(at));
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < devices.size(); ++i) {
          if (!taken[i] && *matcher.matches(devices[i], kDriver)) open.push_back(i);
        }
        CAPTURE(seed, order);
        REQUIRE_FALSE(open.empty());
        taken[open[rng.below(open.size())]] = true;
      }
    }
  }
  CHECK(contested > 1'000);
}

}  // namespace
}  // namespace trainyard::devices
