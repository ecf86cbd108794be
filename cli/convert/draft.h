#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/convert/convert.h"
#include "cli/convert/failures.h"
#include "cli/convert/system_facts.h"
#include "cli/convert/value.h"

// Types that the converters share; only converters include this file.
namespace trainyard::cli {

struct RoleDraft {
  std::string name;
  std::string original;  // its name in the other system
  Json replicas;         // a number, or a placeholder
  Json pod;              // its pod template
  // Variables to set in every container that does not set them itself.
  std::vector<std::pair<std::string, std::string>> variables = {};
  // The other system names the members PREFIX-INDEX; empty if the names are equal.
  std::string formerPrefix = {};
  // Variables that the other system sets after the template's: values in the template have no effect.
  std::set<std::string> overwritten = {};
};

// A TrainingJob under construction from another system's job, with the notes about it.
class JobDraft {
 public:
  // Copies the metadata of `source`, and converts its labels of Kueue.
  JobDraft(const Json& source, const SystemFacts& facts, const Companions& companions);

  // The spec of the TrainingJob so far; finish() adds the roles.
  [[nodiscard]] Json& spec() { return spec_; }
  [[nodiscard]] std::vector<RoleDraft>& roles() { return roles_; }
  [[nodiscard]] RoleDraft* findRole(std::string_view name);
  [[nodiscard]] FailureDraft& failures() { return failures_; }
  [[nodiscard]] const SystemFacts& facts() const { return facts_; }
  [[nodiscard]] const Companions& companions() const { return companions_; }
  // metadata.name; empty if the server generates it.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Returns "bert-worker-2.bert", valid for every member of a role; for use in variables only.
  [[nodiscard]] std::string hostOf(std::string_view role, std::int64_t index) const;

  // Adds a note of one line, whatever names it quotes: it becomes a comment.
  void note(Severity severity, std::string_view text);
  void kept(std::string_view text) { note(Severity::kKept, text); }
  void changed(std::string_view text) { note(Severity::kChanged, text); }
  void lost(std::string_view text) { note(Severity::kLost, text); }
  void cannotWork(std::string_view text) { note(Severity::kCannotWork, text); }
  // Notes each field that the system's table (system_facts.h) lacks, so that none is lost silently, as deep
  // as the table has rows. `path` is the field's path in the table, `shown` its path in the note.
  void noteUnknown(const Json& object, const std::string& path, const std::string& shown);

  // Returns the new role; nullptr if it would have no members.
  RoleDraft* addRole(const std::string& original, const Json& replicas, Json pod);
  // Reserves the name of a role, until giveName() releases it for the next role that is added.
  void keepName(const std::string& role) { taken_.insert(role); }
  void giveName(const std::string& role) { taken_.erase(role); }
  [[nodiscard]] std::int64_t members() const;
  // Returns true if the size of every role is a number.
  [[nodiscard]] bool sizesKnown() const;

  // Returns true if a text of a program, or of a ConfigMap beside the job, matches the regular expression.
  [[nodiscard]] bool mentions(const std::string& pattern) const;

  // Adds labels or annotations to the job.
  void addMetadata(const char* part, const Json& more) { mergeInto(job_["metadata"][part], more); }
  // Sets spec()[section][key]: in `run`, `gang` and so on.
  void set(const char* section, const char* key, Json value) { spec_[section][key] = std::move(value); }
  // Sets spec.queue, unless it is set already; an empty queue is ignored. `said` names the field in notes.
  void takeQueue(const Json& queue, const std::string& said);
  // Kueue suspends pending jobs; without Kueue such a job would stay suspended.
  void addSuspend(const Json& suspend, const char* path);
  // Adds an object that the job needs.
  void addObject(Json object) { objects_.push_back(std::move(object)); }

  // kInvalid if the job has no roles.
  [[nodiscard]] base::Result<Converted> finish();

 private:
  void takeName(const Json& meta);
  void takeKueueLabels(Json& meta);
  std::string roleName(const std::string& original);
  void settlePriority();
  void renameMembers();

  const SystemFacts& facts_;
  const Companions& companions_;
  std::string name_;
  std::string ns_;
  Json job_ = Json::object();
  Json spec_ = Json::object();
  std::vector<RoleDraft> roles_;
  FailureDraft failures_;
  std::vector<Json> objects_;
  std::vector<Note> notes_;
  std::set<std::string> taken_;
  bool ofKueue_ = false;
};

// `source` is the whole object.
void draftPyTorchJob(const Json& source, JobDraft& draft);
void draftTrainJob(const Json& source, JobDraft& draft);
void draftVolcanoJob(const Json& source, JobDraft& draft);

}  // namespace trainyard::cli
