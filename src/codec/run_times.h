#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/run_times.h"

namespace trainyard::codec {

// The v1 ConfigMap, to be created, that keeps the learned run times: {"KIND":[[SUBMITTED,RAN,JOB],...],...}
// in `data.runs`, with seconds since 1970, seconds of running, and an id of the job.
[[nodiscard]] std::string encodeRunTimes(std::string_view name, const model::RunTimes& times);
// A merge patch of the version that was read, so that no concurrent write is lost.
[[nodiscard]] std::string encodeRunTimesPatch(std::string_view resourceVersion, const model::RunTimes& times);

struct StoredRunTimes {
  std::string resourceVersion;
  model::RunTimes times;
  // The error in `data.runs`, with its position; `times` is empty then.
  std::string complaint;
};
// kInvalid if the text is not a ConfigMap.
[[nodiscard]] base::Result<StoredRunTimes> decodeRunTimes(std::string_view json);

}  // namespace trainyard::codec
