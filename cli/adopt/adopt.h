#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/convert/notes.h"
#include "cli/manifests.h"

namespace trainyard::cli {

struct AdoptOptions {
  std::string queue = {};  // empty: the one that the object names for any scheduler, else "default"
  bool asGang = false;     // pods of one Deployment, StatefulSet, ReplicaSet or Job start together
};

struct AdoptedFile {
  std::string text;                      // YAML
  std::vector<std::string> report = {};  // "Job train: added: spec.suspend: true", a line for each change
  Severity worst = Severity::kKept;
};

// Adds to each object what has Trainyard place its pods, and the object stays of its kind. Everything else
// stays as it is, except what another scheduler would act on. kInvalid if no object can be adopted.
// docs/migration.md has the tables.
[[nodiscard]] base::Result<AdoptedFile> adoptManifests(const std::vector<Manifest>& manifests,
                                                       const AdoptOptions& options);

}  // namespace trainyard::cli
