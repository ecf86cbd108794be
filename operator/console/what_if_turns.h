#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/executor.h"

namespace trainyard::operator_::console {

// Allows one what-if at a time, because it may take a core for seconds with thousands of pending jobs. A
// tenant that ran one while others were refused must pause for kRestPerWhatIf times as long as it ran. Lives
// on the executor's thread, and so does the end of a turn.
class WhatIfTurns {
 public:
  explicit WhatIfTurns(base::Executor& executor) : executor_(executor) {}
  ~WhatIfTurns() { *alive_ = false; }
  WhatIfTurns(const WhatIfTurns&) = delete;
  WhatIfTurns& operator=(const WhatIfTurns&) = delete;

  // Returns the turn, which ends with its last copy. kThrottled carries the reason for a refusal.
  [[nodiscard]] base::Result<std::shared_ptr<void>> take(const std::string& tenant);

 private:
  void end(const std::string& tenant, base::Instant began);

  base::Executor& executor_;
  std::optional<std::string> whose_ = std::nullopt;
  bool othersSentAway_ = false;                 // during this turn
  std::map<std::string, base::Instant> rests_;  // end of the pause, by tenant
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

inline constexpr int kRestPerWhatIf = 3;

}  // namespace trainyard::operator_::console
