#pragma once

#include <string>
#include <vector>

#include "codec/field.h"
#include "model/owner_kinds.h"

namespace trainyard::codec {

// A part of a workload: equal pods of one template.
struct WorkloadRole {
  std::string name;        // as a role of a Gang: small letters and digits, at most 16
  std::string sourceName;  // as the workload calls it
  int replicas = 1;
  int groupSize = 0;  // as of a role of a Gang (model/job.h)
  Field podTemplate;
  std::string templatePath;  // JSON pointer: "/spec/template"
};

// The parts of a workload, in the order of its spec, also those that have no pods now; complaints go to the
// field's errors. None if the workload has no pods at all.
[[nodiscard]] std::vector<WorkloadRole> readWorkloadRoles(const model::OwnerKind& kind, const Field& root);

// Returns false for a Job whose pods do not need each other: without completionMode Indexed, or with fewer
// pods at a time than completions; unless an annotation says that they are a gang.
[[nodiscard]] bool isGangOfPods(const model::OwnerKind& kind, const Field& root);

}  // namespace trainyard::codec
