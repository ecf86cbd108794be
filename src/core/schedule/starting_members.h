#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace trainyard::core {

// Counts the members that are starting, from reserved to bound. Their number is bounded, because each costs
// the API server and kube-scheduler work. A namespace below its part of the bound does not wait for others:
// their members may never be bound.
class StartingMembers {
 public:
  StartingMembers(std::map<std::string, std::int64_t> byNamespace, std::int64_t max)
      : byNamespace_(std::move(byNamespace)), max_(max) {
    for (const auto& [ns, members] : byNamespace_) total_ += members;
  }

  [[nodiscard]] bool mayStart(const std::string& ns) const {
    if (total_ < max_) return true;
    const auto own = byNamespace_.find(ns);
    return own == byNamespace_.end() || own->second < max_ / static_cast<std::int64_t>(byNamespace_.size());
  }

  void add(const std::string& ns, std::int64_t members) {
    total_ += members;
    byNamespace_[ns] += members;
  }

 private:
  std::map<std::string, std::int64_t> byNamespace_;
  std::int64_t max_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace trainyard::core
