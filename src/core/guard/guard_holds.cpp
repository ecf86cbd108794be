#include "core/guard/guard_holds.h"

#include <utility>

namespace trainyard::core {

void Holds::put(const model::Uid& pod, Hold hold) {
  drop(pod);
  NodeSum& node = byNode_[hold.node.str()];
  node.sum.add(hold.requests);
  ++node.count;
  byPod_.emplace(pod, std::move(hold));
}

void Holds::drop(const model::Uid& pod) {
  const auto at = byPod_.find(pod);
  if (at == byPod_.end()) return;
  subtract(at->second);
  byPod_.erase(at);
}

void Holds::expire(base::Instant now) {
  for (auto at = byPod_.begin(); at != byPod_.end();) {
    if (at->second.until > now) {
      ++at;
      continue;
    }
    subtract(at->second);
    at = byPod_.erase(at);
  }
}

void Holds::subtract(const Hold& hold) {
  const auto at = byNode_.find(hold.node.str());
  if (--at->second.count == 0) {
    byNode_.erase(at);
  } else {
    at->second.sum.subtract(hold.requests);
  }
}

const Hold* Holds::find(const model::Uid& pod) const {
  const auto at = byPod_.find(pod);
  return at == byPod_.end() ? nullptr : &at->second;
}

const model::Resources* Holds::on(std::string_view node) const {
  const auto at = byNode_.find(node);
  return at == byNode_.end() ? nullptr : &at->second.sum;
}

}  // namespace trainyard::core
