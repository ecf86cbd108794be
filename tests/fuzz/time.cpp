#include "base/time.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void time(std::string_view input) {
  const auto moment = base::parseTime(input);
  if (!moment) return require(!moment.error().message.empty(), "a refusal says why");
  const auto again = base::parseTime(base::formatMicroTime(*moment));
  require(again && *again == *moment, "a written time reads as the same");
  const auto whole = base::parseTime(base::formatTime(*moment));
  require(whole && *whole <= *moment && *moment - *whole < std::chrono::seconds(1),
          "seconds are rounded down");
}

}  // namespace trainyard::fuzz
