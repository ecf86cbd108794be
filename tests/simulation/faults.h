#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::simulation {

// The faults that may affect one API call of an operator.
enum class Fault {
  kCrashBefore,  // the process crashes, the request is never sent
  kCrashAfter,   // the request is executed, then the process crashes
  kLoseRequest,
  kLoseReply,
  kDelay,  // in both directions: answers and requests overtake each other
  kStall,  // arrives long after its sender's lease
  kConflict,
  kExpired,
  kThrottled,
  kServerError,
  kPause,  // the process pauses for longer than its lease, with the request in flight
  // Faults of an open watch.
  kDropWatch,
  kDelayLine,  // this watch falls behind the others
};
inline constexpr int kFaults = 13;
inline constexpr int kRequestFaults = 11;
[[nodiscard]] std::string_view toString(Fault fault);

// The purposes of an operator's API calls.
enum class Step {
  kListNodes,
  kListPods,
  kListJobs,
  kListOthers,
  kWatchNodes,
  kWatchPods,
  kWatchJobs,
  kWatchOthers,
  kReadLease,
  kMakeLease,
  kRenewLease,
  kEvent,
  kCheckTemplate,
  kReserve,
  kClaim,
  kClaimed,
  kAbort,
  kDropProposal,
  kMerge,
  kStatusWords,
  kAddFinalizer,
  kRemoveFinalizer,
  kCreateService,
  kCreateConfigMap,
  kCreateMember,
  kReleaseMember,
  kAllBound,
  kNotifyMember,
  kDeletePod,
  kForceDelete,
  kReadJob,
  kReadPod,
  kReadOwned,
  // From here on: only in scenarios with owners.
  kCreateGang,
  kChangeGang,
  kDeleteGang,
  kMarkTemplates,
  kSuspendOwner,
  kStartOwner,
  kGivePlace,
  kEvict,
  kOther,
};
inline constexpr int kSteps = static_cast<int>(Step::kOther);  // the last one must never occur
inline constexpr int kStepsWithoutOwners = static_cast<int>(Step::kCreateGang);
[[nodiscard]] std::string_view toString(Step step);
[[nodiscard]] constexpr bool isWatch(Step step) {
  return step >= Step::kWatchNodes && step <= Step::kWatchOthers;
}
// Lines come only from watches.
[[nodiscard]] constexpr bool applies(Fault fault, Step step) {
  return static_cast<int>(fault) < kRequestFaults || isWatch(step);
}

// One call that must meet one fault, so that rare steps do not depend on chance.
struct FaultTarget {
  Step step = Step::kReserve;
  Fault fault = Fault::kCrashAfter;
  int occurrence = 1;  // of the step, counted over all operators
};

// The probability of random faults, per thousand calls.
struct FaultOdds {
  std::array<int, kFaults> perMille{};
  int crashes = 3;  // at most; pauses have the same limit
  int pauses = 2;
  std::vector<FaultTarget> targets;
};

// The number of hits by fault and step.
class HitTable {
 public:
  void add(Fault fault, Step step) { ++hits_[index(fault)][index(step)]; }
  void addCall(Step step) { ++calls_[index(step)]; }
  void add(const HitTable& other);
  [[nodiscard]] std::uint64_t at(Fault fault, Step step) const { return hits_[index(fault)][index(step)]; }
  [[nodiscard]] std::uint64_t calls(Step step) const { return calls_[index(step)]; }

 private:
  template <typename Enum>
  static std::size_t index(Enum value) {
    return static_cast<std::size_t>(value);
  }
  std::array<std::array<std::uint64_t, kSteps + 1>, kFaults> hits_{};
  std::array<std::uint64_t, kSteps + 1> calls_{};
};

}  // namespace trainyard::simulation
