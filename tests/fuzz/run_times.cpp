#include "codec/run_times.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void runTimes(std::string_view input) {
  const auto stored = codec::decodeRunTimes(input);
  if (!stored) return;
  if (!stored->complaint.empty()) {
    require(stored->complaint.starts_with("data.runs"), "a complaint names the field");
    require(stored->times.kinds.empty(), "nothing is taken from what cannot be used");
  }
  const auto again = codec::decodeRunTimes(codec::encodeRunTimesPatch("1", stored->times));
  require(again && again->complaint.empty() && again->times == stored->times,
          "run times read as they were written");
}

}  // namespace trainyard::fuzz
