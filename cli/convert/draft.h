#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/convert/conversion_notes.h"
#include "cli/convert/convert.h"
#include "cli/convert/failures.h"
#include "cli/convert/role_drafts.h"
#include "cli/convert/system_facts.h"
#include "cli/convert/value.h"

// Types that the converters share; only converters include this file.
namespace trainyard::cli {

// A TrainingJob under construction from another system's job, with the notes about it.
class JobDraft {
 public:
  // Copies the metadata of `source`, and converts its labels of Kueue.
  JobDraft(const Json& source, const SystemFacts& facts, const Companions& companions);
  JobDraft(const JobDraft&) = delete;
  JobDraft& operator=(const JobDraft&) = delete;

  // The spec of the TrainingJob so far; finish() adds the roles.
  [[nodiscard]] Json& spec() { return spec_; }
  [[nodiscard]] RoleDrafts& roles() { return roles_; }
  [[nodiscard]] ConversionNotes& notes() { return notes_; }
  [[nodiscard]] FailureDraft& failures() { return failures_; }
  [[nodiscard]] const SystemFacts& facts() const { return facts_; }
  [[nodiscard]] const Companions& companions() const { return companions_; }
  // metadata.name; empty if the server generates it.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Returns "bert-worker-2.bert", valid for every member of a role; for use in variables only.
  [[nodiscard]] std::string hostOf(std::string_view role, std::int64_t index) const;

  // Returns true if a text of a program, or of a ConfigMap beside the job, matches the regular expression.
  [[nodiscard]] bool mentions(const std::string& pattern) const;

  // Adds labels or annotations to the job.
  void addMetadata(const char* part, const Json& more) { mergeInto(job_["metadata"][part], more); }
  // Removes an annotation of the job, and returns its value; empty if there is none.
  std::string takeAnnotation(const char* key);
  // Sets spec()[section][key]: in `run`, `gang` and so on.
  void set(const char* section, const char* key, Json value) { spec_[section][key] = std::move(value); }
  // Sets spec.queue, unless it is set already; an empty queue is ignored. `origin` names the field in notes.
  void takeQueue(const Json& queue, const std::string& origin);
  // Kueue suspends pending jobs; without Kueue such a job would stay suspended.
  void addSuspend(const Json& suspend, const char* path);
  // Adds an object that the job needs.
  void addObject(Json object) { objects_.push_back(std::move(object)); }

  // kInvalid if the job has no roles.
  [[nodiscard]] base::Result<Converted> finish();

 private:
  void takeName(const Json& meta);
  void takeKueueLabels(Json& meta);
  void settlePriority();
  void renameMembers();

  const SystemFacts& facts_;
  const Companions& companions_;
  std::string name_;
  std::string ns_;
  Json job_ = Json::object();
  Json spec_ = Json::object();
  ConversionNotes notes_;
  RoleDrafts roles_;
  FailureDraft failures_;
  std::vector<Json> objects_;
  bool ofKueue_ = false;
};

// `source` is the whole object.
void draftIndexedJob(const Json& source, JobDraft& draft);
void draftJaxJob(const Json& source, JobDraft& draft);
void draftJobSet(const Json& source, JobDraft& draft);
void draftMpiJob(const Json& source, JobDraft& draft);
void draftPaddleJob(const Json& source, JobDraft& draft);
void draftPyTorchJob(const Json& source, JobDraft& draft);
void draftRayCluster(const Json& source, JobDraft& draft);
void draftRayJob(const Json& source, JobDraft& draft);
void draftTfJob(const Json& source, JobDraft& draft);
void draftTrainJob(const Json& source, JobDraft& draft);
void draftVolcanoJob(const Json& source, JobDraft& draft);
void draftXgBoostJob(const Json& source, JobDraft& draft);

}  // namespace trainyard::cli
