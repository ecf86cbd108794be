#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/convert/draft.h"

// Only converters include this file.
namespace trainyard::cli {

// Converts when a Volcano Job ends, and what follows failures: policies of the job and its
// tasks, and the restartPolicy of their templates.
class VolcanoPolicies {
 public:
  explicit VolcanoPolicies(JobDraft& draft) : draft_(draft), notes_(draft.notes()) {}

  void addTask(const Json& task, const std::string& role);
  // Called after all tasks: writes spec.success and spec.failure. `spec` is the job's.
  void write(const Json& spec, const std::string& framework);

 private:
  enum class Subject { kFailure, kEviction, kCompletion, kOther };
  void apply(const Json& policy, const std::string& role, const std::string& origin);
  void onFailure(const std::string& action, const std::string& role, std::optional<int> code,
                 const std::string& origin);
  void onEviction(const std::string& action, const std::string& role, const std::string& origin);
  void onCompletion(const std::string& action, const std::string& role, const std::string& origin);
  void writeSuccess(const Json& spec, const std::string& framework);
  void writeFailure(const Json& spec, const std::string& framework);
  void writeLimit(const Json& maxRetry, bool restarts, bool inPlace);
  static Subject subjectOf(const std::string& event);

  JobDraft& draft_;
  ConversionNotes& notes_;
  std::vector<std::pair<Json, std::string>> ofTasks_;   // policies and their roles
  std::map<std::string, std::string> restartPolicies_;  // of templates, by role
  std::map<std::string, OnFailure> byPolicy_;           // by role; "": all roles
  std::set<std::string> completing_;                    // roles that end the job; "": each of them
  bool memberOnly_ = false;                             // a policy restarts a member or a task
  bool wholeJob_ = false;                               // a policy restarts the job
};

}  // namespace trainyard::cli
