#pragma once

#include <string>
#include <vector>

#include "cli/convert/draft.h"

// Jobs of Kubernetes; only converters include this file.
namespace trainyard::cli {

// Collects the Jobs that a converted job is made of, and writes what concerns all of them.
class BatchJobs {
 public:
  explicit BatchJobs(JobDraft& draft) : draft_(draft) {}

  // Adds a role with the pods of this Job. `origin` names its spec in notes, `former` is the former name of
  // its pods without their number. Returns nullptr if it has none.
  RoleDraft* add(const std::string& role, const Json& spec, const std::string& origin,
                 const std::string& former);
  // Notes the fields of a Job's spec that a TrainingJob has no counterpart of.
  void note(const Json& spec, const std::string& origin);
  // Sets the restarts: `recreations` of all Jobs together, each with its own backoffLimit.
  void writeFailures(std::int64_t recreations);

  // The pods of a Job at a time; a placeholder stays.
  [[nodiscard]] static Json sizeOf(const Json& spec);

 private:
  JobDraft& draft_;
  std::vector<std::int64_t> retries_;  // of each Job
};

// Names of members have the domain of the job: rewrites texts with another one, such as a Service's.
void moveDomain(const std::string& former, JobDraft& draft);

}  // namespace trainyard::cli
