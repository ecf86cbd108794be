#pragma once

#include <chrono>
#include <optional>

#include "model/claim_time.h"

namespace trainyard::core {

// Time limits of the gang protocol. The defaults suit clusters up to some thousand nodes.
struct Settings {
  // From Reserved to the last member bound: a fixed part for the API and the scheduler's own back-off, and a
  // part per member, so that a large gang on a slow API server is not aborted for its size.
  std::chrono::milliseconds startDeadline{120'000};
  std::chrono::milliseconds startDeadlinePerMember{250};
  // No further gang starts while so many members are between Reserved and bound. Without this limit a backlog
  // of thousands would let all deadlines pass while the API server works through it. The value is far above
  // what a scheduler binds in some seconds, so it costs no throughput.
  int startingMembers = 1'000;
  // A job that waits for this limit alone reports it after this time: most have started before.
  std::chrono::milliseconds startingPatience{10'000};
  // How long victims may take to terminate beyond the longest grace period of any of them. The claim's
  // own pods come first, and a kubelet may be slow.
  std::chrono::milliseconds claimDeadline = model::kClaimTime;
  // How long kube-scheduler may call a pinned member unschedulable before the attempt is given up. The
  // message often clears by itself: a terminating pod leaves, a cache catches up.
  std::chrono::milliseconds unschedulableGrace{10'000};
  // A pod that is being deleted on a node that has not been ready for this long is deleted by force: its
  // kubelet will not confirm. Absent: never. The cycle takes it from the policy.
  std::optional<std::chrono::milliseconds> unreachableGrace{60'000};
  // The longest grace period that a pod gets, whatever it requests; the cycle takes it from the policy.
  std::chrono::seconds maxGrace{600};
  // Pause after the n-th aborted attempt in a row: base * 2^(n-1), at most max.
  std::chrono::milliseconds backoffBase{1'000};
  std::chrono::milliseconds backoffMax{60'000};
};

}  // namespace trainyard::core
