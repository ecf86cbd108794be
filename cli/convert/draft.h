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

// What the converters share; included by them alone.
namespace trainyard::cli {

struct RoleDraft {
  std::string name;
  std::string original;  // what the other system calls it
  Json replicas;         // a number, or a placeholder
  Json pod;              // its template
  // Set in every container unless it sets them itself.
  std::vector<std::pair<std::string, std::string>> variables = {};
  // Members are called PREFIX-INDEX there, if that is another name than here.
  std::string formerPrefix = {};
  // Variables that the other system sets after the template's, so that the template's never count.
  std::set<std::string> overwritten = {};
};

// A TrainingJob that is being written after another system's job, and the notes about it.
class JobDraft {
 public:
  // Takes over the metadata of `source`, and its labels of Kueue.
  JobDraft(const Json& source, const SystemFacts& facts, const Beside& beside);

  // The TrainingJob's, so far; roles are added by finish().
  [[nodiscard]] Json& spec() { return spec_; }
  [[nodiscard]] std::vector<RoleDraft>& roles() { return roles_; }
  [[nodiscard]] RoleDraft* findRole(std::string_view name);
  [[nodiscard]] FailureDraft& failures() { return failures_; }
  [[nodiscard]] const SystemFacts& facts() const { return facts_; }
  [[nodiscard]] const Beside& beside() const { return beside_; }
  // metadata.name; empty where the server is to generate one.
  [[nodiscard]] const std::string& name() const { return name_; }
  // "bert-worker-2.bert", for every member of a role; in variables only.
  [[nodiscard]] std::string hostOf(std::string_view role, std::int64_t index) const;

  // One line each, whatever names it quotes: it becomes a comment.
  void note(Severity severity, std::string_view text);
  void kept(std::string_view text) { note(Severity::kKept, text); }
  void changed(std::string_view text) { note(Severity::kChanged, text); }
  void lost(std::string_view text) { note(Severity::kLost, text); }
  void cannotWork(std::string_view text) { note(Severity::kCannotWork, text); }
  // Notes every field that the table of the system does not have (system_facts.h), at any depth that the
  // table has rows for: no field is lost in silence. `path` is that of the table, `shown` that of the note.
  void noteUnknown(const Json& object, const std::string& path, const std::string& shown);

  // The new role; nullptr where it would have no members.
  RoleDraft* addRole(const std::string& original, const Json& replicas, Json pod);
  // Keeps a role's name from all others, until it is given to the one that is added next.
  void keepName(const std::string& role) { taken_.insert(role); }
  void giveName(const std::string& role) { taken_.erase(role); }
  [[nodiscard]] std::int64_t members() const;
  // Whether the size of every role is a number.
  [[nodiscard]] bool sizesKnown() const;

  // Whether a program's texts, or a ConfigMap beside the job, match the regular expression.
  [[nodiscard]] bool mentions(const std::string& pattern) const;

  // More labels or annotations of the job.
  void addMetadata(const char* part, const Json& more) { mergeInto(job_["metadata"][part], more); }
  // spec()[section][key]: of `run`, `gang` and so on.
  void set(const char* section, const char* key, Json value) { spec_[section][key] = std::move(value); }
  // spec.queue, unless it is given already. Empty means none.
  void takeQueue(const Json& queue, const std::string& said);
  // Kueue suspends pending jobs; without Kueue such a job would stay suspended.
  void addSuspend(const Json& suspend, const char* path);
  // An object that the job needs beside it.
  void addObject(Json object) { objects_.push_back(std::move(object)); }

  // kInvalid without roles.
  [[nodiscard]] base::Result<Converted> finish();

 private:
  void takeName(const Json& meta);
  void takeKueueLabels(Json& meta);
  std::string roleName(const std::string& original);
  void settlePriority();
  void renameMembers();

  const SystemFacts& facts_;
  const Beside& beside_;
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
