#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "devices/request_matcher.h"
#include "model/device.h"

namespace trainyard::devices {

// Which devices of a slice match a request. Clusters have tens of thousands of devices, and a change mostly
// concerns one slice or one request, so answers are kept as long as both exist. The work of a round is
// bounded: tenants write the expressions, and a round is on the loop that all jobs wait for.
class MatchCache {
 public:
  using MatcherPtr = std::shared_ptr<const RequestMatcher>;
  using SlicePtr = std::shared_ptr<const model::ResourceSlice>;
  struct Matches {
    std::vector<bool> devices;  // in the order of the slice
    std::string error;          // with which kube-scheduler gives up the pod; empty: none
    std::uint64_t round = 0;
  };

  // The matcher of the request for this class.
  [[nodiscard]] MatcherPtr matcherOf(const model::DeviceRequest& request,
                                     const std::shared_ptr<const model::DeviceClass>& deviceClass);
  // Null if the work of this round is used up: ask again in the next one. Otherwise valid until nextRound()
  // is called twice.
  [[nodiscard]] const Matches* matches(const MatcherPtr& matcher, const SlicePtr& slice);
  // Forgets what was not asked for since the last call.
  void nextRound();

 private:
  struct Known {
    MatcherPtr matcher;
    std::shared_ptr<const model::DeviceClass> deviceClass;
    std::uint64_t round = 0;
    std::unordered_map<SlicePtr, Matches> bySlice = {};
  };

  std::map<model::DeviceRequest, Known> known_;
  std::uint64_t round_ = 0;
  std::size_t work_ = 0;  // done in this round
};

}  // namespace trainyard::devices
