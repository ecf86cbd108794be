#include "cli/convert.h"

#include <fmt/format.h>

#include "cli/foreign_job.h"
#include "cli/job_draft.h"

namespace trainyard::cli {

base::Result<Converted> convertJob(const std::string& json) {
  const ForeignJob source = foreignJob(json);
  if (!source.known) {
    return base::fail(
        base::ErrorCode::kInvalid,
        fmt::format("{} of {} cannot be converted: only Job of batch.volcano.sh, PyTorchJob of kubeflow.org "
                    "and TrainJob of trainer.kubeflow.org",
                    source.kind.empty() ? "an object without kind" : source.kind, source.group));
  }
  try {
    const Json whole = Json::parse(json, nullptr, false);
    JobDraft draft(whole);
    if (source.kind == "PyTorchJob") draftPyTorchJob(whole, draft);
    if (source.kind == "TrainJob") draftTrainJob(whole, draft);
    if (source.kind == "Job") draftVolcanoJob(whole, draft);
    return draft.finish();
  } catch (const Json::exception& error) {
    // A list where an object belongs, for instance: its own API server would have refused it.
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{} is not well-formed: {}", source.kind, error.what()));
  }
}

}  // namespace trainyard::cli
