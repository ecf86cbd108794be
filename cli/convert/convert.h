#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/convert/notes.h"
#include "cli/manifests.h"

namespace trainyard::cli {

// Other objects of the files, as JSON: runtimes that a TrainJob names, and
// ConfigMaps with scripts that refer to the job.
struct Companions {
  std::vector<std::string> objects = {};
};

struct Converted {
  std::string json;                       // the TrainingJob
  std::vector<std::string> objects = {};  // objects that it needs, as JSON
  std::vector<Note> notes = {};           // how much of its meaning each part keeps
};

// Converts Volcano's Job (batch.volcano.sh), Kubeflow's PyTorchJob (kubeflow.org/v1) and TrainJob
// (trainer.kubeflow.org) to an equivalent TrainingJob. `json` is that object. Notes name each part that
// changes its meaning, and what the operator or the API server would refuse. kInvalid for other kinds and for
// jobs without any counterpart. docs/migration.md has the tables.
[[nodiscard]] base::Result<Converted> convertJob(const std::string& json, const Companions& companions = {});

struct ConvertedFile {
  std::string text;  // YAML, with the notes as comments
  Severity worst = Severity::kKept;
  std::vector<std::string> problems = {};  // notes beyond kKept, each with its job
};

// Converts the jobs in the files, copies other objects, and names jobs of
// unknown kinds. kInvalid if no job can be converted.
[[nodiscard]] base::Result<ConvertedFile> convertManifests(const std::vector<Manifest>& manifests);

}  // namespace trainyard::cli
