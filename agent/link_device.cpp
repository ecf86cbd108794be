#include "agent/link_device.h"

namespace trainyard::agent {

base::Result<FoundLink> LinkDevice::read() {
  auto found = kernel_.read(name_);
  if (!found) note(found.error());
  return found;
}

LinkDevice::Applied LinkDevice::apply(const TcChanges& changes) {
  Applied applied;
  for (const TcChange& each : changes.changes) {
    const auto made = kernel_.apply(name_, each);
    if (made) {
      metrics_.changes.increment();
      log_.debug("kernel changed", {{"device", name_}, {"change", describe(each)}});
      continue;
    }
    applied.good = false;
    note(made.error());
    if (made.error().code != base::ErrorCode::kUnsupported) continue;
    applied.missing = made.error();
    break;
  }
  return applied;
}

bool LinkDevice::removeQdisc(bool force) {
  const auto found = read();
  if (!found) return force;
  if (found->root != RootOwner::kOurs) return true;
  TcChanges changes = planChanges({}, *found);
  if (changes.waiting && force) changes.changes.emplace_back(RemoveQdisc{});
  for (const TcChange& each : changes.changes) {
    const auto made = kernel_.apply(name_, each);
    if (!made) note(made.error());
  }
  return !changes.waiting || force;
}

void LinkDevice::note(const base::Error& error) {
  metrics_.errors.increment();
  if (trouble_ != error.message)
    log_.warning("the kernel refused", {{"device", name_}, {"error", error.message}});
  trouble_ = error.message;
}

}  // namespace trainyard::agent
