#include "devices/catalog.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "devices/pools.h"
#include "model/device_names.h"

namespace trainyard::devices {
namespace {

// What a node offers of a contest that cannot be lost there.
constexpr std::int64_t kPlenty = 1'000'000'000;

std::string contestOf(const std::string& resource) {
  return fmt::format("{}{}", model::kContestPrefix, resource);
}

std::shared_ptr<const model::DeviceClass> classOf(const model::DeviceRequest& request,
                                                  const model::SharedList<model::DeviceClass>& classes) {
  const std::size_t at = classes.positionOf(request.deviceClass);
  return at == classes.size() ? nullptr : classes[at];
}

}  // namespace

Catalog::Catalog(const model::Devices& devices, const std::vector<model::DeviceRequest>& requests,
                 const std::vector<std::string>& gpus, MatchCache& cache)
    : requests_(requests) {
  addKinds(devices, requests, gpus, cache);
  const auto byNode = matchAll(devices, cache);
  cache.nextRound();
  // Most nodes are alike.
  std::map<std::vector<KindsOfDevice>, Pairs> patterns;
  for (const auto& [node, found] : byNode) {
    if (const auto [at, added] = patterns.try_emplace(found.kinds); added)
      at->second = countPairs(found.kinds);
  }
  Pairs anywhere(kinds_.size(), std::vector<std::int64_t>(kinds_.size()));
  for (const auto& [pattern, here] : patterns) {
    for (std::size_t a = 0; a < kinds_.size(); ++a) {
      for (std::size_t b = 0; b < kinds_.size(); ++b) anywhere[a][b] += here[a][b];
    }
  }
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    kinds_[kind].contested = std::any_of(patterns.begin(), patterns.end(), [&](const auto& each) {
      return needsContest(kind, each.second, anywhere);
    });
  }
  decideAsked(anywhere);
  for (const Kind& kind : kinds_) unknown_.raiseTo(kind.asked);
  for (const auto& [node, found] : byNode) {
    offered_[node] = offeredBy(patterns.at(found.kinds));
    for (std::size_t i = 0; i < found.names.size(); ++i) {
      if (!found.kinds[i].empty()) held_[found.names[i]] = {node, amountOf(found.kinds[i])};
    }
  }
}

void Catalog::addKinds(const model::Devices& devices, const std::vector<model::DeviceRequest>& requests,
                       const std::vector<std::string>& gpus, MatchCache& cache) {
  for (const auto& each : devices.classes) {
    const bool isGpus = std::find(gpus.begin(), gpus.end(), each->name) != gpus.end();
    if (each->extendedResource.empty() && !isGpus) continue;
    const std::string& resource = each->extendedResource.empty() ? each->name : each->extendedResource;
    // As kube-scheduler: the newest of several classes serves an extended resource, then the first by name.
    const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const Kind& kind) { return kind.resource == resource; });
    if (known == kinds_.end()) {
      kinds_.push_back({cache.matcherOf({each->name}, each), resource, true});
    } else if (known->matcher->deviceClass()->created < each->created) {
      known->matcher = cache.matcherOf({each->name}, each);
    }
  }
  for (const model::DeviceRequest& each : requests) {
    auto matcher = cache.matcherOf(each, classOf(each, devices.classes));
    std::string name = matcher->name();
    // A class that counts as GPUs has this name for all its devices.
    const bool isTotal = std::find(gpus.begin(), gpus.end(), name) != gpus.end() ||
                         std::any_of(kinds_.begin(), kinds_.end(),
                                     [&](const Kind& kind) { return kind.isTotal && kind.resource == name; });
    if (isTotal) name += "[*]";
    // Texts that differ in spaces only say the same, and have one name.
    const auto same =
        std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.resource == name; });
    byRequest_.emplace(each, static_cast<std::size_t>(same - kinds_.begin()));
    if (same != kinds_.end()) continue;
    std::string problem = matcher->problem();
    kinds_.push_back({std::move(matcher), std::move(name), false, std::move(problem)});
  }
}

std::map<model::NodeName, Catalog::Found> Catalog::matchAll(const model::Devices& devices,
                                                            MatchCache& cache) {
  const auto byNode = usableSlices(devices.slices);
  std::map<model::NodeName, Found> all;
  for (const auto& [node, slices] : byNode) {
    Found& here = all[node];
    for (const auto& slice : slices) {
      for (const model::Device& device : slice->devices)
        here.names.push_back({slice->driver, slice->pool, device.name});
    }
    here.kinds.resize(here.names.size());
  }
  // The work is bounded, so long expressions come last: they delay themselves.
  std::vector<std::size_t> order(kinds_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kinds_[a].matcher->work() < kinds_[b].matcher->work();
  });
  for (const std::size_t kind : order) {
    for (const auto& [node, slices] : byNode) match(kind, slices, all[node], cache);
  }
  for (auto& [node, found] : all) {
    for (KindsOfDevice& each : found.kinds) std::sort(each.begin(), each.end());
  }
  return all;
}

void Catalog::match(std::size_t kind, const std::vector<std::shared_ptr<const model::ResourceSlice>>& slices,
                    Found& found, MatchCache& cache) {
  std::size_t device = 0;
  for (const auto& slice : slices) {
    const auto* matches = cache.matches(kinds_[kind].matcher, slice);
    if (matches == nullptr) {
      complete_ = false;
      kinds_[kind].problem = "its devices are still being counted";
      return;
    }
    if (kinds_[kind].problem.empty()) kinds_[kind].problem = matches->error;
    for (const bool each : matches->devices) {
      if (each) found.kinds[device].push_back(kind);
      ++device;
    }
  }
}

Catalog::Pairs Catalog::countPairs(const std::vector<KindsOfDevice>& devices) const {
  Pairs pairs(kinds_.size(), std::vector<std::int64_t>(kinds_.size()));
  for (const KindsOfDevice& each : devices) {
    for (const std::size_t a : each) {
      for (const std::size_t b : each) ++pairs[a][b];
    }
  }
  return pairs;
}

bool Catalog::overlaps(std::size_t kind, const Pairs& onNode) const {
  for (std::size_t other = 0; other < kinds_.size(); ++other) {
    if (other != kind && onNode[kind][other] > 0) return true;
  }
  return false;
}

// Whether requests of the kind also take the total.
bool Catalog::takes(std::size_t kind, std::size_t total, const Pairs& anywhere) const {
  if (!kinds_[total].isTotal) return false;
  if (kinds_[kind].isTotal) return kind == total;
  return anywhere[kind][total] > 0 ||
         kinds_[kind].matcher->request().deviceClass == kinds_[total].matcher->request().deviceClass;
}

bool Catalog::overlapsOtherTotal(std::size_t total, const Pairs& onNode) const {
  for (std::size_t other = 0; other < kinds_.size(); ++other) {
    if (other != total && kinds_[other].isTotal && onNode[total][other] > 0) return true;
  }
  return false;
}

// A total is its own contest, unless it meets another one. A set that equals a total's needs none beside it,
// if all that overlap it take the total.
bool Catalog::needsContest(std::size_t kind, const Pairs& onNode, const Pairs& anywhere) const {
  if (onNode[kind][kind] == 0 || !overlaps(kind, onNode)) return false;
  if (kinds_[kind].isTotal) return overlapsOtherTotal(kind, onNode);
  for (std::size_t total = 0; total < kinds_.size(); ++total) {
    const bool equal = kinds_[total].isTotal && onNode[kind][total] == onNode[kind][kind] &&
                       onNode[total][total] == onNode[kind][kind];
    if (!equal) continue;
    bool allTake = true;
    for (std::size_t other = 0; other < kinds_.size(); ++other)
      allTake = allTake && (onNode[kind][other] == 0 || takes(other, total, anywhere));
    if (allTake) return false;
  }
  return true;
}

void Catalog::decideAsked(const Pairs& anywhere) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    model::Resources& asked = kinds_[kind].asked;
    asked.setExtended(kinds_[kind].resource, 1);
    for (std::size_t other = 0; other < kinds_.size(); ++other) {
      if (takes(kind, other, anywhere)) asked.setExtended(kinds_[other].resource, 1);
      const bool contends = kinds_[other].contested && (other == kind || anywhere[kind][other] > 0);
      if (contends) asked.setExtended(contestOf(kinds_[other].resource), 1);
    }
    if (!kinds_[kind].isTotal) continue;
    model::Resources beside = asked;
    beside.setExtended(kinds_[kind].resource, 0);
    for (const auto& [name, amount] : beside.extendedAll()) {
      if (model::isContest(name)) everywhere_.setExtended(name, kPlenty);
    }
    if (!beside.extendedAll().empty()) beside_.emplace(kinds_[kind].resource, std::move(beside));
  }
}

model::Resources Catalog::offeredBy(const Pairs& onNode) const {
  model::Resources offered;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const std::int64_t own = onNode[kind][kind];
    // kube-scheduler gives up a pod whose extended resource has a class with a failing selector.
    const bool isServed = !kinds_[kind].isTotal || kinds_[kind].problem.empty();
    if (isServed) offered.setExtended(kinds_[kind].resource, own);
    if (kinds_[kind].contested)
      offered.setExtended(contestOf(kinds_[kind].resource), overlaps(kind, onNode) ? own : kPlenty);
  }
  return offered;
}

const model::Resources* Catalog::amountOf(const KindsOfDevice& kinds) {
  const auto [at, added] = amounts_.try_emplace(kinds);
  if (added) {
    for (const std::size_t kind : kinds) {
      at->second.setExtended(kinds_[kind].resource, 1);
      if (kinds_[kind].contested) at->second.setExtended(contestOf(kinds_[kind].resource), 1);
    }
  }
  return &at->second;
}

const model::Resources& Catalog::asked(const model::DeviceRequest& request) const {
  const auto at = byRequest_.find(request);
  return at == byRequest_.end() ? unknown_ : kinds_[at->second].asked;
}

const std::string& Catalog::problem(const model::DeviceRequest& request) const {
  static const std::string kTooMany = "too many different requests for devices are in use";
  const auto at = byRequest_.find(request);
  return at == byRequest_.end() ? kTooMany : kinds_[at->second].problem;
}

const model::Resources* Catalog::askedBeside(const std::string& extendedResource) const {
  const auto at = beside_.find(extendedResource);
  return at == beside_.end() ? nullptr : &at->second;
}

const Catalog::Held* Catalog::held(const model::DeviceName& device) const {
  const auto at = held_.find(device);
  return at == held_.end() ? nullptr : &at->second;
}

}  // namespace trainyard::devices
