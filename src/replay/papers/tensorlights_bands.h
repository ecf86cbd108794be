#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/network/bands.h"
#include "replay/papers/tensorlights.h"

namespace trainyard::replay {

// The agents' part of the simulation: the band of each job's packets, by the rules of the agent itself. Jobs
// are numbered in the order of their hosts.
class TensorLightsBands {
 public:
  // The options must outlive the object.
  TensorLightsBands(const TensorLightsOptions& options, TensorLightsPolicy policy);

  // False without agents: every packet is in the first band.
  [[nodiscard]] bool orders() const { return policy_ != TensorLightsPolicy::kFifo; }
  // Orders the running jobs that have their server on one host. `nanos` is the present time.
  void order(const std::vector<int>& jobs, std::int64_t nanos);

  // The band of the packets from the job's server.
  [[nodiscard]] int bandOf(int job) const { return bandOf_[static_cast<std::size_t>(job)]; }
  // The last band of a host with servers of two jobs or more; otherwise the first one.
  [[nodiscard]] int lastBand(int host) const;

 private:
  [[nodiscard]] core::RankedJob ranked(int job) const;

  const TensorLightsOptions& options_;
  const TensorLightsPolicy policy_;
  std::vector<int> bandOf_;
};

}  // namespace trainyard::replay
