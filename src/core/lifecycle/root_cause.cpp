#include "core/lifecycle/root_cause.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

namespace trainyard::core {
namespace {

using model::Sign;
using State = MemberVerdict::State;

// In the log of a member that still runs, only a sign of at least this weight counts as a cause.
constexpr int kSpecific = 60;

enum Standing {
  kNone,
  kNoSign,
  kLostPeer,
  kEndedSilently,
  kMaybeConsequence,
  kVague,
  kCauseOfLiving,
  kNamesCause
};

Standing standingOf(const MemberVerdict& verdict, const RuleBook& book) {
  if (verdict.state == State::kEndedWell) return kNone;
  if (verdict.rule < 0) return verdict.state == State::kLost ? kNoSign : kNone;
  const model::FailureRule& rule = book.rules()[static_cast<std::size_t>(verdict.rule)];
  if (verdict.state == State::kAlive && verdict.sign != Sign::kFact)
    return verdict.sign == Sign::kCause && rule.weight >= kSpecific ? kCauseOfLiving : kNone;
  switch (verdict.sign) {
    case Sign::kFact:
    case Sign::kCause: return kNamesCause;
    case Sign::kDerived: return kMaybeConsequence;
    case Sign::kSymptom:
      if (rule.failure == model::FailureClass::kUserCodeError) return kVague;
      // An exit code proves less than a log line, and collectives that time out end with the same codes.
      return verdict.fromLog ? kMaybeConsequence : kLostPeer;
    default: return kLostPeer;
  }
}

// Returns the end time as a sort key; smaller is earlier. A member without a time sorts before all others if
// Kubernetes removed it or it never started, else after them.
std::int64_t endOf(const MemberVerdict& verdict) {
  if (verdict.endedAt) return verdict.endedAt->time_since_epoch().count();
  return verdict.sign == Sign::kFact ? std::numeric_limits<std::int64_t>::min()
                                     : std::numeric_limits<std::int64_t>::max();
}

// Returns true if a member without signs ended before all that lost a peer: then it is that peer.
bool endedFirst(const MemberVerdict& silent, std::span<const MemberVerdict> verdicts, const RuleBook& book) {
  if (!silent.endedAt) return false;
  return std::none_of(verdicts.begin(), verdicts.end(), [&](const MemberVerdict& other) {
    return standingOf(other, book) == kLostPeer && endOf(other) <= endOf(silent);
  });
}

}  // namespace

std::optional<std::size_t> rootMember(std::span<const MemberVerdict> verdicts, const RuleBook& book) {
  std::optional<std::size_t> root;
  const auto rank = [&](std::size_t i) {
    const MemberVerdict& verdict = verdicts[i];
    Standing standing = standingOf(verdict, book);
    if (standing == kNoSign && endedFirst(verdict, verdicts, book)) standing = kEndedSilently;
    const int weight = verdict.rule < 0 ? 0 : book.rules()[static_cast<std::size_t>(verdict.rule)].weight;
    // Signs that others may have caused appear at many members; only the root has the specific one.
    const int before = standing == kMaybeConsequence ? -weight : 0;
    return std::tuple(-static_cast<int>(standing), before, endOf(verdict), -weight);
  };
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (standingOf(verdicts[i], book) == kNone) continue;
    if (!root || rank(i) < rank(*root)) root = i;
  }
  return root;
}

}  // namespace trainyard::core
