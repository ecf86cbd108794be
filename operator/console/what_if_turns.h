#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/executor.h"

namespace trainyard::operator_::console {

// Who may have something worked out: one at a time, as it may take a core for seconds where thousands wait.
// Whoever had the turn while others were sent away leaves the next ones to them, for kRestPerWhatIf times as
// long as he had it. Lives on the executor's thread, and so does the end of a turn.
class WhatIfTurns {
 public:
  explicit WhatIfTurns(base::Executor& executor) : executor_(executor) {}
  ~WhatIfTurns() { *alive_ = false; }
  WhatIfTurns(const WhatIfTurns&) = delete;
  WhatIfTurns& operator=(const WhatIfTurns&) = delete;

  // The turn, which ends with the last copy of it. kThrottled: not now, and why.
  [[nodiscard]] base::Result<std::shared_ptr<void>> take(const std::string& tenant);

 private:
  void end(const std::string& tenant, base::Instant began);

  base::Executor& executor_;
  std::optional<std::string> whose_ = std::nullopt;
  bool othersSentAway_ = false;                 // meanwhile
  std::map<std::string, base::Instant> rests_;  // until when, by tenant
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

inline constexpr int kRestPerWhatIf = 3;

}  // namespace trainyard::operator_::console
