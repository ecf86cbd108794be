#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/convert/notes.h"
#include "cli/manifests.h"

namespace trainyard::cli {

// What else the files hold, as JSON: runtimes that a TrainJob names, ConfigMaps whose scripts refer to the
// job.
struct Beside {
  std::vector<std::string> objects = {};
};

struct Converted {
  std::string json;                       // the TrainingJob
  std::vector<std::string> objects = {};  // what it needs beside it, as JSON
  std::vector<Note> notes = {};           // how much of its meaning each part keeps
};

// A TrainingJob that does what another system's job does: Volcano's Job (batch.volcano.sh), Kubeflow's
// PyTorchJob (kubeflow.org/v1) and TrainJob (trainer.kubeflow.org). `json` is that object. Whatever does not
// keep its meaning has a note, and so has what the operator or the API server would refuse of the result.
// kInvalid for other kinds and for what has no counterpart at all. docs/migration.md has the tables.
[[nodiscard]] base::Result<Converted> convertJob(const std::string& json, const Beside& beside = {});

struct ConvertedFile {
  std::string text;  // YAML, with the notes as comments
  Severity worst = Severity::kKept;
  std::vector<std::string> problems = {};  // notes beyond kKept, each with the job that it is about
};

// All objects of the files: jobs converted, other objects as they are, jobs of unknown kinds named. kInvalid
// where no job can be converted.
[[nodiscard]] base::Result<ConvertedFile> convertManifests(const std::vector<Manifest>& manifests);

}  // namespace trainyard::cli
