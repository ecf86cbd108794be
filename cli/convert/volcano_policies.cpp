#include "cli/convert/volcano_policies.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/convert/scratch.h"
#include "cli/convert/ssh_launch.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

constexpr int kDefaultMaxRetry = 3;  // Volcano's spec.maxRetry

std::vector<std::string> eventsOf(const Json& policy) {
  std::vector<std::string> events;
  if (const std::string one = textOf(get(policy, "event")); !one.empty()) events.push_back(one);
  for (const Json& each : listOf(get(policy, "events"))) events.push_back(textOf(each));
  return events;
}

std::optional<int> codeOf(const Json& policy) {
  const Json code = get(policy, "exitCode");
  constexpr int kMaxExitCode = 255;
  if (!code.is_number_integer() || code < 1 || code > kMaxExitCode) return std::nullopt;
  return code.get<int>();
}

// Returns text such as "PodFailed, PodEvicted" or "exit code 3".
std::string describe(const Json& policy) {
  std::string text;
  for (const std::string& each : eventsOf(policy)) text += (text.empty() ? "" : ", ") + each;
  if (const auto code = codeOf(policy))
    text += fmt::format("{}exit code {}", text.empty() ? "" : ", ", *code);
  return text;
}

std::vector<std::string> listed(const std::string& role) {
  return role.empty() ? std::vector<std::string>() : std::vector<std::string>{role};
}

}  // namespace

VolcanoPolicies::Subject VolcanoPolicies::subjectOf(const std::string& event) {
  static constexpr std::array<std::pair<std::string_view, Subject>, 6> kSubjects{
      {{"PodFailed", Subject::kFailure},
       {"TaskFailed", Subject::kFailure},
       {"PodEvicted", Subject::kEviction},
       {"JobUnknown", Subject::kEviction},
       {"TaskCompleted", Subject::kCompletion},
       {"*", Subject::kFailure}}};
  for (const auto& [name, subject] : kSubjects) {
    if (name == event) return subject;
  }
  return Subject::kOther;
}

void VolcanoPolicies::addTask(const Json& task, const std::string& role) {
  restartPolicies_[role] = textOf(get(task, "template", "spec", "restartPolicy"));
  for (const Json& policy : listOf(get(task, "policies"))) ofTasks_.emplace_back(policy, role);
}

void VolcanoPolicies::write(const Json& spec, const std::string& framework) {
  // The policies of a task take precedence over those of the job, and the first rule that matches decides.
  for (const auto& [policy, role] : ofTasks_) apply(policy, role, fmt::format("task {}: policy", role));
  for (const Json& policy : listOf(get(spec, "policies"))) apply(policy, "", "policy");
  writeSuccess(spec, framework);
  writeFailure(spec, framework);
}

void VolcanoPolicies::apply(const Json& policy, const std::string& role, const std::string& origin) {
  const std::string action = textOf(get(policy, "action"));
  const std::string what = fmt::format("{} {} → {}", origin, describe(policy), action);
  const std::vector<std::string> events = eventsOf(policy);
  const bool applies =
      codeOf(policy) || std::any_of(events.begin(), events.end(), [](const std::string& each) {
        return subjectOf(each) != Subject::kOther;
      });
  if (applies && !get(policy, "timeout").is_null())
    notes_.lost(
        fmt::format("{}: timeout {}: the action follows at once", what, valueText(get(policy, "timeout"))));
  if (const auto code = codeOf(policy)) onFailure(action, role, code, what);
  for (const std::string& event : events) {
    switch (subjectOf(event)) {
      case Subject::kFailure:
        onFailure(action, role, std::nullopt, what);
        if (event == "*") onEviction(action, role, what);
        break;
      case Subject::kEviction: onEviction(action, role, what); break;
      case Subject::kCompletion: onCompletion(action, role, what); break;
      case Subject::kOther: notes_.lost(fmt::format("{}: not carried over", what)); break;
    }
  }
  if (!policy.is_object()) return;
  for (const auto& [key, value] : policy.items()) {
    static const std::set<std::string> kKnown{"event", "events", "exitCode", "action", "timeout"};
    if (kKnown.count(key) == 0 && !value.is_null())
      notes_.lost(fmt::format("{}.{}: not carried over", origin, key));
  }
}

void VolcanoPolicies::onFailure(const std::string& action, const std::string& role, std::optional<int> code,
                                const std::string& origin) {
  OnFailure what = OnFailure::kRestart;
  if (action == "RestartJob") {
    wholeJob_ = true;
  } else if (action == "RestartTask" || action == "RestartPod") {
    memberOnly_ = true;
  } else if (action == "AbortJob" || action == "TerminateJob") {
    what = OnFailure::kEnd;
    if (action == "AbortJob")
      notes_.changed(fmt::format("{}: the job ends as Failed; Volcano's may be resumed", origin));
  } else {
    return notes_.lost(fmt::format("{}: not carried over; see spec.failure", origin));
  }
  if (code)
    draft_.failures().exitCode(*code, what, listed(role));
  else
    byPolicy_[role] = what;
}

// The gang restarts when a member is lost, and the loss is not counted as a failure.
void VolcanoPolicies::onEviction(const std::string& action, const std::string& role,
                                 const std::string& origin) {
  if (action == "RestartJob" || action == "ResumeJob") return;
  if (action == "RestartTask" || action == "RestartPod")
    return notes_.changed(fmt::format("{}: the whole gang starts again", origin));
  if (action != "AbortJob" && action != "TerminateJob")
    return notes_.lost(fmt::format("{}: not carried over; the gang starts again", origin));
  draft_.failures().disruption(listed(role));
  notes_.changed(
      fmt::format("{}: an evicted pod ends the job (spec.failure.rules); a lost node restarts it", origin));
}

void VolcanoPolicies::onCompletion(const std::string& action, const std::string& role,
                                   const std::string& origin) {
  if (action != "CompleteJob") return notes_.lost(fmt::format("{}: not carried over", origin));
  completing_.insert(role);
}

void VolcanoPolicies::writeSuccess(const Json& spec, const std::string& framework) {
  std::vector<std::string> all;
  bool single = true;  // each of the completing roles has one pod
  std::vector<std::string> completing;
  for (const RoleDraft& role : draft_.roles()) {
    all.push_back(role.name);
    if (!completing_.contains("") && !completing_.contains(role.name)) continue;
    // Parameter servers never end.
    if (!completing_.contains(role.name) && framework == "TensorFlow" && model::sendsParameters(role.name))
      continue;
    completing.push_back(role.name);
    single = single && role.replicas == 1;
  }
  const Json successes = get(spec, "minSuccess");
  if (!completing.empty()) {
    draft_.set("success", "roles", completing);
    if (completing.size() == 1) return;
    // Volcano completes the job with the first completed task.
    if (single)
      draft_.set("success", "operator", "Any");
    else
      notes_.changed(
          "TaskCompleted → CompleteJob of several tasks: all of these roles have to succeed, not the first "
          "of them");
    return;
  }
  if (launchesOverSsh(framework) && draft_.roles().find("launcher") != nullptr) {
    draft_.set("success", "roles", Json::array({"launcher"}));
    return notes_.changed(
        "no policy ends the job: it has succeeded with its launcher; Volcano waits for all tasks");
  }
  if (successes == 1) draft_.set("success", "operator", "Any");
  if (!successes.is_null() && successes != 1 && successes != draft_.roles().members())
    notes_.lost("spec.minSuccess: not carried over; spec.success lists the roles that have to succeed");
  if (all.size() > 1 || successes == 1) {
    draft_.set("success", "roles", all);
    notes_.kept(successes == 1 ? "minSuccess 1: the job has succeeded when one member has (spec.success)"
                               : "no policy ends the job: all tasks have to (spec.success.roles)");
  }
}

void VolcanoPolicies::writeFailure(const Json& spec, const std::string& framework) {
  bool inPlace = false;
  bool restarts = false;  // Volcano itself restarts members
  bool allInPlace = true;
  for (const RoleDraft& role : draft_.roles()) {
    const std::string& policy = restartPolicies_[role.name];
    auto found = byPolicy_.find(role.name);
    if (found == byPolicy_.end()) found = byPolicy_.find("");
    const bool decided = found != byPolicy_.end();
    // A member that the kubelet restarts never fails, so that no policy applies.
    OnFailure what = OnFailure::kRestart;
    if (policy == "Never") what = decided ? found->second : OnFailure::kEnd;
    draft_.failures().role(role.name, what);
    if (policy != "Never") noteScratch(role, draft_);
    restarts = restarts || (policy == "Never" && what == OnFailure::kRestart);
    inPlace = inPlace || policy != "Never";
    allInPlace = allInPlace && policy != "Never";
    if (policy == "Never" && !decided)
      notes_.changed(fmt::format(
          "role {}: restartPolicy Never: a failure ends the job at once; Volcano lets the other pods run "
          "to their end first",
          role.name));
    if (policy.empty() || policy == "Always")
      notes_.changed(fmt::format("role {}: restartPolicy {}: a member that ends with 0 has succeeded",
                                 role.name, policy.empty() ? "is left out, which is Always" : policy));
    if (decided && policy != "Never" && found->second == OnFailure::kEnd)
      notes_.kept(fmt::format(
          "role {}: restartPolicy {}: the kubelet starts it again, before a policy for failed pods",
          role.name, policy.empty() ? "Always" : policy));
  }
  writeLimit(get(spec, "maxRetry"), restarts, inPlace);
  // No policy applies to members that the kubelet restarts.
  const bool alone = allInPlace || (memberOnly_ && !wholeJob_);
  if (alone && framework == "Custom")
    draft_.failures().memberOnly();
  else if (memberOnly_)
    notes_.changed("RestartTask, RestartPod: the whole gang starts again");
}

// maxRetry counts the restarts by Volcano, not those by the kubelet, which
// have no limit. Volcano's webhook replaces 0 by 3.
void VolcanoPolicies::writeLimit(const Json& maxRetry, bool restarts, bool inPlace) {
  const bool given = !maxRetry.is_null() && maxRetry != 0;
  const Json retries = given ? maxRetry : Json(kDefaultMaxRetry);
  if (restarts) {
    draft_.failures().limit(retries);
    if (inPlace)
      notes_.changed(fmt::format(
          "maxRetry {}: spec.failure.maxRestarts counts failures of all roles, and of those too that the "
          "kubelet starts again without limit",
          valueText(retries)));
    return;
  }
  if (given && inPlace)
    notes_.kept(fmt::format(
        "maxRetry {}: no limit for containers that the kubelet starts again: spec.failure.maxRestarts is "
        "{}; evictions are not counted here",
        valueText(retries), kMaxRestarts));
}

}  // namespace trainyard::cli
