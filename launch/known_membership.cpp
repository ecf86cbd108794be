#include "launch/known_membership.h"

namespace trainyard::launch {

bool KnownMembership::readFromFile(const Membership& read) {
  if (!born_) born_ = read;
  const bool newer = !now_ || read.generation > now_->generation;
  return newer && read.generation > born_->generation;
}

bool KnownMembership::learn(const Membership& membership) {
  if (now_ && membership.generation <= now_->generation) return false;
  now_ = membership;
  return true;
}

Environment KnownMembership::environment(const Environment& own) const {
  return born_ && now_ ? environmentAt(own, *born_, *now_) : own;
}

}  // namespace trainyard::launch
