#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/guard/guard.h"

namespace trainyard::core {

// The free capacity of single nodes for one foreign pod.
class ForeignPodChecker {
 public:
  ForeignPodChecker(const GuardView& view, const Holds& holds, const model::Pod& pod)
      : view_(view), holds_(holds), pod_(pod), own_(holds.find(pod.uid)) {}

  struct NodeCheck {
    const GuardNode* node = nullptr;
    std::int64_t freeGpus = 0;
    std::optional<GuardReason> refusal = std::nullopt;
    const model::Resources* lacking = nullptr;  // the capacity that was too small; valid until the next look
  };

  // Common cases need no copy of a Resources.
  [[nodiscard]] NodeCheck look(std::string_view name);

 private:
  void lookAtReservations(std::string_view name, const model::Resources& free, NodeCheck& check);
  void lookAtRunning(const model::Resources& free, NodeCheck& check);
  void lookAtHolds(std::string_view name, const model::Resources& free, NodeCheck& check);

  const GuardView& view_;
  const Holds& holds_;
  const model::Pod& pod_;
  const Hold* own_;
  model::Resources scratch_;
};

}  // namespace trainyard::core
