#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard::cli {

struct Converted {
  std::string json;                // the TrainingJob
  std::vector<std::string> notes;  // what of the original is not carried over, and what to look at
};

// A TrainingJob that does what another system's job does: Volcano's Job (batch.volcano.sh), Kubeflow's
// PyTorchJob (kubeflow.org/v1) and TrainJob (trainer.kubeflow.org). `json` is that object. kInvalid for other
// kinds and for what has no counterpart at all. docs/migration.md has the table.
[[nodiscard]] base::Result<Converted> convertJob(const std::string& json);

}  // namespace trainyard::cli
