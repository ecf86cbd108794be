#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/run_times.h"

namespace trainyard::codec {

// The v1 ConfigMap that keeps what was learnt, in `data.runs`: {"KIND":[[SUBMITTED,RAN,JOB],...],...}:
// seconds since 1970, seconds of running, and what tells one job from another. The object to create.
[[nodiscard]] std::string encodeRunTimes(std::string_view name, const model::RunTimes& times);
// A merge patch; of the version that was read, so that nothing is lost that another one wrote.
[[nodiscard]] std::string encodeRunTimesPatch(std::string_view resourceVersion, const model::RunTimes& times);

struct StoredRunTimes {
  std::string resourceVersion;
  model::RunTimes times;
  // What is wrong with `data.runs`, with the place; `times` is empty then.
  std::string complaint;
};
// kInvalid when this is no ConfigMap at all.
[[nodiscard]] base::Result<StoredRunTimes> decodeRunTimes(std::string_view json);

}  // namespace trainyard::codec
