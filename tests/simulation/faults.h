#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::simulation {

// What may happen to one API call of an operator.
enum class Fault {
  kCrashBefore,  // the process dies, the request is never sent
  kCrashAfter,   // the request was carried out, then the process dies
  kLoseRequest,
  kLoseReply,
  kDelay,  // there and back: answers and requests overtake each other
  kStall,  // arrives long after its sender's lease
  kConflict,
  kExpired,
  kThrottled,
  kServerError,
  kPause,  // the process stands still for longer than its lease, the request on its way
  // Of a watch that is open.
  kDropWatch,
  kDelayLine,  // this watch falls behind the others
};
inline constexpr int kFaults = 13;
inline constexpr int kRequestFaults = 11;
[[nodiscard]] std::string_view toString(Fault fault);

// What an operator's API call is for.
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
  kTellMember,
  kDeletePod,
  kForceDelete,
  kReadJob,
  kReadPod,
  kReadOwned,
  kOther,
};
inline constexpr int kSteps = static_cast<int>(Step::kOther);  // the last one should never be seen
[[nodiscard]] std::string_view toString(Step step);
[[nodiscard]] constexpr bool isWatch(Step step) {
  return step >= Step::kWatchNodes && step <= Step::kWatchOthers;
}
// Lines come only from watches.
[[nodiscard]] constexpr bool applies(Fault fault, Step step) {
  return static_cast<int>(fault) < kRequestFaults || isWatch(step);
}

// One call that must meet one fault, so that rare steps are not left to chance.
struct FaultTarget {
  Step step = Step::kReserve;
  Fault fault = Fault::kCrashAfter;
  int occurrence = 1;  // of the step, counted over all operators
};

// How often things go wrong by chance, of a thousand calls.
struct FaultOdds {
  std::array<int, kFaults> perMille{};
  int crashes = 3;  // at most, as are pauses
  int pauses = 2;
  std::vector<FaultTarget> targets;
};

// Hits by fault and step.
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
