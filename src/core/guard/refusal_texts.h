#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/guard/foreign_pod_checker.h"

namespace trainyard::core {

// Texts have numbers only for countable resources. Bytes and millicores differ on every node, and
// kube-scheduler joins all different texts into one event.
class RefusalTexts {
 public:
  RefusalTexts(FilterDecision& decision, const model::Pod& pod) : decision_(decision), pod_(pod) {}

  void refuse(std::string_view name, const ForeignPodChecker::NodeCheck& check);

  void refuseNotTheBest(std::string_view name);

 private:
  // The last element is the index of the lacking GPU resource; -1: none.
  using Numbers = std::tuple<GuardReason, std::int64_t, std::int64_t, std::ptrdiff_t>;

  std::string_view textFor(GuardReason reason, const ForeignPodChecker::NodeCheck& check);

  std::string_view plain(GuardReason reason);

  template <typename Make>
  std::string_view remember(const Numbers& numbers, Make make) {
    const auto [at, added] = byNumbers_.try_emplace(numbers);
    if (added) at->second = store(make());
    return at->second;
  }

  std::string_view store(std::string text) { return decision_.texts.emplace_back(std::move(text)); }

  FilterDecision& decision_;
  const model::Pod& pod_;
  std::map<Numbers, std::string_view> byNumbers_;
  std::map<std::pair<GuardReason, std::string>, std::string_view> byResource_;
};

}  // namespace trainyard::core
