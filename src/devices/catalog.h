#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/match_cache.h"
#include "devices/request_matcher.h"
#include "model/device.h"
#include "model/resources.h"

namespace trainyard::devices {

// Devices as resources that are counted on nodes, so that everything that counts resources counts them.
//
// For each request R in use, let set(R) be the devices of a node that match it, in complete pools that belong
// to the node. The node offers |set(R)| of R's own resource, and a pod that asks for n devices of R takes n
// of it. kube-scheduler chooses the devices: where sets overlap, it may give R's devices to another request.
// So a node where set(R) overlaps another one offers |set(R)| of a contest, which all requests take that
// overlap R on any node. Then, whatever devices it chooses in whatever order, enough of set(R) are left for
// everyone who was promised some: others have taken at most what they took of the contest. Exact where the
// sets of a node are equal or disjoint. Where one contains another it is pessimistic, and only until pods are
// bound: an allocated device counts under exactly the requests that it matches. (Rejected: one resource for
// each set of equal devices. Which devices are equal depends on all requests, and records of jobs would have
// to change with every new request.)
//
// A class with an extended resource, or one that the policy counts as GPUs, also counts under that name,
// which is its contest as well: quotas, shares and reports then see GPUs. Immutable.
class Catalog {
 public:
  // `gpus`: what counts as GPUs, classes among it. `requests`: those in use, each once.
  Catalog(const model::Devices& devices, const std::vector<model::DeviceRequest>& requests,
          const std::vector<std::string>& gpus, MatchCache& cache);

  // Those that it was made for.
  [[nodiscard]] const std::vector<model::DeviceRequest>& requests() const { return requests_; }
  // False if not all devices have been looked at: make another one with the same cache.
  [[nodiscard]] bool complete() const { return complete_; }
  // What one device of the request takes; askedByUnknown() if the catalog was not made for it.
  [[nodiscard]] const model::Resources& asked(const model::DeviceRequest& request) const;
  // What may be taken by what is not known: of everything.
  [[nodiscard]] const model::Resources& askedByUnknown() const { return unknown_; }
  // Why no device can be promised to the request; empty if there is no reason.
  [[nodiscard]] const std::string& problem(const model::DeviceRequest& request) const;
  // What pods take in addition if they request one piece of an extended resource; null if nothing.
  [[nodiscard]] const model::Resources* askedBeside(const std::string& extendedResource) const;

  // Whether takes of extended resources also take others.
  [[nodiscard]] bool hasBeside() const { return !beside_.empty(); }

  // What nodes offer while no device is allocated.
  [[nodiscard]] const std::map<model::NodeName, model::Resources>& offered() const { return offered_; }
  // What every node offers, also one without devices.
  [[nodiscard]] const model::Resources& offeredEverywhere() const { return everywhere_; }

  struct Held {
    model::NodeName node;
    const model::Resources* amount = nullptr;
  };
  // What the device takes when it is allocated, and where; nullopt if no request in use matches it.
  [[nodiscard]] const Held* held(const model::DeviceName& device) const;

 private:
  // A request in use, or an extended resource.
  struct Kind {
    std::shared_ptr<const RequestMatcher> matcher;
    std::string resource;
    bool isTotal = false;  // `resource` is also its contest
    std::string problem = {};
    bool contested = false;
    model::Resources asked = {};
  };
  // The kinds that one device matches, as positions in kinds_, ascending.
  using KindsOfDevice = std::vector<std::size_t>;
  struct Found {
    std::vector<model::DeviceName> names;
    std::vector<KindsOfDevice> kinds;  // of each
  };
  // By pairs of kinds: the devices that match both; [a][a]: |set(a)|.
  using Pairs = std::vector<std::vector<std::int64_t>>;

  void addKinds(const model::Devices& devices, const std::vector<model::DeviceRequest>& requests,
                const std::vector<std::string>& gpus, MatchCache& cache);
  [[nodiscard]] std::map<model::NodeName, Found> matchAll(const model::Devices& devices, MatchCache& cache);
  void match(std::size_t kind, const std::vector<std::shared_ptr<const model::ResourceSlice>>& slices,
             Found& found, MatchCache& cache);
  [[nodiscard]] Pairs countPairs(const std::vector<KindsOfDevice>& devices) const;
  [[nodiscard]] bool overlaps(std::size_t kind, const Pairs& onNode) const;
  [[nodiscard]] bool overlapsOtherTotal(std::size_t total, const Pairs& onNode) const;
  [[nodiscard]] bool needsContest(std::size_t kind, const Pairs& onNode, const Pairs& anywhere) const;
  [[nodiscard]] bool takes(std::size_t kind, std::size_t total, const Pairs& anywhere) const;
  void decideAsked(const Pairs& anywhere);
  [[nodiscard]] model::Resources offeredBy(const Pairs& onNode) const;
  [[nodiscard]] const model::Resources* amountOf(const KindsOfDevice& kinds);

  std::vector<model::DeviceRequest> requests_;
  bool complete_ = true;
  std::vector<Kind> kinds_;
  std::map<model::DeviceRequest, std::size_t> byRequest_;
  std::map<std::string, model::Resources> beside_;
  std::map<model::NodeName, model::Resources> offered_;
  model::Resources everywhere_;
  model::Resources unknown_;
  std::map<KindsOfDevice, model::Resources> amounts_;  // most devices are alike
  std::map<model::DeviceName, Held> held_;
};

}  // namespace trainyard::devices
