#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launch/member_environment.h"
#include "launch/membership.h"

namespace trainyard::launch {

// What a member knows about itself and the size of its job: from its variables, its own file, and from other
// members.
class KnownMembership {
 public:
  explicit KnownMembership(const Environment& variables) : self_(memberOf(variables)) {}

  [[nodiscard]] const Member& self() const { return self_; }
  // A member that computes independently continues at any size.
  [[nodiscard]] bool independent() const { return !self_.rank; }

  // `atBirth` is the membership behind the variables; absent if it is unknown.
  void begin(const std::optional<Membership>& atBirth) { born_ = now_ = atBirth; }
  // Takes a membership from the member's own file. The first one counts as that at birth, if none was known.
  // Returns true if other members may not know it yet. (The membership at birth is not reported: a joining
  // member must not hurry the others, which learn of it once the member has started.)
  [[nodiscard]] bool readFromFile(const Membership& read);
  // Takes a later membership; returns false if it is not later.
  [[nodiscard]] bool learn(const Membership& membership);

  [[nodiscard]] bool knowsBirth() const { return born_.has_value(); }
  [[nodiscard]] const std::optional<Membership>& now() const { return now_; }
  // 0: unknown.
  [[nodiscard]] std::int64_t generation() const { return now_ ? now_->generation : 0; }
  // Returns true if the member no longer belongs to the job.
  [[nodiscard]] bool leaving() const { return now_ && !belongs(self_, *now_); }
  // Returns the variables of the program at the present size. `own` are those that the operator gave.
  [[nodiscard]] Environment environment(const Environment& own) const;

 private:
  Member self_;
  std::optional<Membership> born_;
  std::optional<Membership> now_;
};

}  // namespace trainyard::launch
