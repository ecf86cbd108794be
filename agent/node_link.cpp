#include "agent/node_link.h"

#include <utility>

#include <fmt/format.h>

#include "agent/uplink.h"
#include "base/file.h"

namespace trainyard::agent {
namespace {

base::Result<std::string> findDevice() {
  const auto routes = base::readFile("/proc/net/route");
  if (!routes) return base::fail(routes.error());
  auto device = defaultDevice(*routes);
  if (device) return device;
  const auto routes6 = base::readFile("/proc/net/ipv6_route");
  return routes6 ? defaultDevice6(*routes6) : device;
}

}  // namespace

base::Result<void> NodeLink::open() {
  auto kernel = openKernel();
  if (!kernel) return base::fail(kernel.error());
  kernel_ = std::move(*kernel);
  device_ = options_.device;
  if (device_.empty()) {
    auto device = findDevice();
    if (!device) return base::fail(device.error());
    device_ = std::move(*device);
  }
  LinkOptions link{.device = device_, .settings = {}, .policy = options_.policy, .turn = options_.turn};
  // An invalid --rate is the administrator's mistake and ends the program. If a driver
  // reports no speed, nothing is ordered on this node.
  base::Result<std::uint64_t> rate = std::uint64_t{0};
  if (!options_.removeOnly) {
    rate = readRate();
    if (!rate && !options_.rate.empty()) return base::fail(rate.error());
    link.settings = {rate.value_or(0), options_.othersPermille};
    log_.info("starting", {{"node", options_.node},
                           {"device", device_},
                           {"bytes_per_second", fmt::to_string(rate.value_or(0))}});
  }
  keeper_ = std::make_unique<LinkKeeper>(*kernel_, executor_, log_, metrics_, link);
  if (!options_.removeOnly) probeKernel();
  rateKnown_ = rate.has_value();
  if (!rate) log_.warning("traffic is not ordered on this node", {{"error", rate.error().message}});
  return {};
}

base::Result<std::uint64_t> NodeLink::readRate() const {
  if (!options_.rate.empty()) return parseRate(options_.rate);
  const auto speed = base::readFile(fmt::format("/sys/class/net/{}/speed", device_));
  return linkRate(speed ? *speed : std::string());
}

void NodeLink::probeKernel() {
  const KernelFeatures features = kernel_->probe();
  for (const char* each : {"NET_SCHED", "NET_SCH_HTB", "NET_CLS_U32"}) metrics_.setMissing(each, false);
  if (!features.missing.empty()) {
    keeper_->setMissing(features.missing.front(), features.message);
  } else if (!features.tried) {
    log_.info("kernel features are not known before they are needed", {{"error", features.message}});
  }
}

void NodeLink::askForRate() {
  if (rateKnown_) return;
  const auto rate = readRate();
  if (!rate) return;
  rateKnown_ = true;
  log_.info("the link's rate is known now", {{"bytes_per_second", fmt::to_string(*rate)}});
  keeper_->setRate(*rate);
}

}  // namespace trainyard::agent
