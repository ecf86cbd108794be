#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/batch_job.h"
#include "cli/convert/draft.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kMaxRoles = 8;
constexpr const char* kJobSetController = "jobset.sigs.k8s.io/jobset-controller";
constexpr const char* kExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";

class JobSet {
 public:
  JobSet(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")), draft_(draft), notes_(draft.notes()), jobs_(draft) {}

  void draft() {
    draft_.spec()["framework"] = "Custom";
    for (const Json& each : listOf(get(spec_, "replicatedJobs"))) addReplicatedJob(each);
    moveDomain(textOf(get(spec_, "network", "subdomain")), draft_);
    addSuccess();
    addFailures();
    draft_.addSuspend(get(spec_, "suspend"), "spec.suspend");
    if (Json life = get(spec_, "ttlSecondsAfterFinished"); !life.is_null())
      draft_.set("run", "ttlSecondsAfterFinished", std::move(life));
    notePolicies();
    notes_.noteUnknown(spec_, "spec", "spec");
  }

 private:
  // Each Job is a role, because its pods count from 0. Jobs of one pod each are members of one role, by the
  // number of the Job.
  void addReplicatedJob(const Json& each) {
    const std::string name = textOf(get(each, "name"));
    const std::string origin = fmt::format("replicatedJob {}", name);
    const Json job = get(each, "template", "spec");
    notes_.noteUnknown(each, "spec.replicatedJobs[]", origin);
    jobs_.note(job, origin + ": spec");
    noteOrder(each, origin);
    Json replicas = get(each, "replicas");
    if (replicas.is_null()) replicas = 1;
    const std::string former = draft_.name().empty() ? "" : fmt::format("{}-{}", draft_.name(), name);
    if (replicas != 1 && BatchJobs::sizeOf(job) == 1) return addSingles(name, job, replicas, former);
    if (!replicas.is_number_integer() || countOf(replicas) + roles_.size() > kMaxRoles) {
      notes_.cannotWork(fmt::format("{}: replicas {}: a TrainingJob has at most {} roles, one for each Job",
                                    origin, valueText(replicas), kMaxRoles));
      replicas = 1;
    }
    for (std::int64_t i = 0; i < countOf(replicas); ++i) addJob(name, job, i, countOf(replicas), former);
  }

  void addJob(const std::string& name, const Json& job, std::int64_t index, std::int64_t count,
              const std::string& former) {
    const std::string role = count == 1 ? name : fmt::format("{}{}", name, index);
    const std::string prefix = former.empty() ? "" : fmt::format("{}-{}", former, index);
    RoleDraft* added = jobs_.add(role, job, fmt::format("replicatedJob {}: spec", name), prefix);
    if (added == nullptr) return;
    added->original = name;
    roles_.emplace_back(name, added->name);
    setNumbers(*added, std::to_string(index), count);
    if (count > 1)
      notes_.kept(fmt::format("Job {} of replicatedJob {} is role {}", index, name, added->name));
  }

  void addSingles(const std::string& name, const Json& job, const Json& replicas, const std::string& former) {
    RoleDraft* added = jobs_.add(name, job, fmt::format("replicatedJob {}: spec", name), "");
    if (added == nullptr) return;
    added->replicas = replicas;
    if (!replicas.is_number_integer())
      notes_.cannotWork(
          fmt::format("replicatedJob {}: replicas {} is not a number: write one", name, valueText(replicas)));
    added->original = name;
    roles_.emplace_back(name, added->name);
    for (auto& [variable, value] : added->variables) {
      if (variable == "JOB_COMPLETION_INDEX") value = "0";
    }
    readIndex(*added);
    renameSingles(*added, former);
    notes_.kept(fmt::format("replicatedJob {}: its Jobs have a pod each, and are members of role {}", name,
                            added->name));
  }

  // Pods of Jobs with one pod are called FORMER-JOB-0.
  void renameSingles(RoleDraft& role, const std::string& former) {
    if (former.empty()) return;
    const re2::RE2 expression(fmt::format(R"((^|[^-\w]){}-(\d+)-0\b)", re2::RE2::QuoteMeta(former)));
    const std::string now = fmt::format(R"(\1{}-{}-\2)", draft_.name(), role.name);
    const re2::RE2 any(fmt::format(R"((^|[^-\w]){}-(\d+|\$[^-]*)-)", re2::RE2::QuoteMeta(former)));
    bool found = false;
    for (RoleDraft& each : draft_.roles())
      forEachText(each.pod, [&](std::string& text) {
        found = re2::RE2::GlobalReplace(&text, expression, now) > 0 || found;
      });
    if (found)
      notes_.kept(
          fmt::format("members {}-N-0 are called {}-{}-N: texts of the templates that name one are rewritten",
                      former, draft_.name(), role.name));
    if (former != fmt::format("{}-{}", draft_.name(), role.name) && draft_.mentions(any.pattern()))
      notes_.cannotWork(fmt::format("a program names members {}-N-0 by a variable: they are called {}-{}-N",
                                    former, draft_.name(), role.name));
  }

  // What JobSet writes into labels and annotations of pods, if a program reads it there.
  static void setNumbers(RoleDraft& role, const std::string& index, std::int64_t count) {
    const std::string text = role.pod.dump();
    for (const auto& [key, value] :
         {std::pair<const char*, std::string>{"jobset.sigs.k8s.io/job-index", index},
          {"jobset.sigs.k8s.io/replicatedjob-replicas", std::to_string(count)}}) {
      for (const char* part : {"labels", "annotations"}) {
        if (text.find(fmt::format("metadata.{}['{}']", part, key)) != std::string::npos)
          role.pod["metadata"][part][key] = value;
      }
    }
  }

  // The number of the Job is that of the member.
  static void readIndex(RoleDraft& role) {
    const auto replace = [](auto&& self, Json& value) -> void {
      if (value.is_structured()) {
        for (Json& each : value) self(self, each);
      } else if (value.is_string()) {
        static const re2::RE2 kJobIndex(
            R"(metadata\.(labels|annotations)\['jobset\.sigs\.k8s\.io/job-index'\])");
        re2::RE2::GlobalReplace(&value.get_ref<std::string&>(), kJobIndex,
                                "metadata.labels['trainyard.dev/index']");
      }
    };
    replace(replace, role.pod);
  }

  void noteOrder(const Json& each, const std::string& origin) {
    for (const Json& other : listOf(get(each, "dependsOn"))) {
      const std::string name = textOf(get(other, "name"));
      if (get(other, "status") == "Complete")
        notes_.cannotWork(
            fmt::format("{}: dependsOn {}: it starts once that one has ended, and here all roles start "
                        "together: make {} a job of its own, or an init container",
                        origin, name, name));
      else
        notes_.changed(fmt::format("{}: dependsOn {}: all roles start together", origin, name));
    }
  }

  void addSuccess() {
    const Json policy = get(spec_, "successPolicy");
    const Json targets = listOf(get(policy, "targetReplicatedJobs"));
    const bool any = get(policy, "operator") == "Any";
    Json roles = Json::array();
    bool large = false;
    for (const auto& [job, role] : roles_) {
      if (!targets.empty() && std::find(targets.begin(), targets.end(), job) == targets.end()) continue;
      roles.push_back(role);
      const RoleDraft* draft = draft_.roles().find(role);
      large = large || countOf(draft->replicas) > 1;
    }
    if (any) draft_.set("success", "operator", "Any");
    if (any && large)
      notes_.changed("successPolicy Any: the job has succeeded when one member has, not one whole Job");
    draft_.set("success", "roles", std::move(roles));
  }

  void addFailures() {
    const Json policy = get(spec_, "failurePolicy");
    const Json restarts = get(policy, "maxRestarts");
    jobs_.writeFailures(restarts.is_null() ? 0 : countOf(restarts));
    if (!listOf(get(policy, "rules")).empty())
      notes_.lost("failurePolicy.rules: not carried over; write spec.failure.rules");
  }

  void notePolicies() {
    if (get(spec_, "startupPolicy", "startupPolicyOrder") == "InOrder")
      notes_.changed("startupPolicy InOrder: all roles start together");
    if (!get(spec_, "volumeClaimPolicies").is_null())
      notes_.cannotWork(
          "volumeClaimPolicies: the claims are not made: make them, and name them in the templates");
    const std::string manager = textOf(get(spec_, "managedBy"));
    if (!manager.empty() && manager != kJobSetController)
      notes_.lost(fmt::format("managedBy {}: not carried over; see spec.managedBy", manager));
    const std::string key = draft_.takeAnnotation(kExclusive);
    if (!key.empty())
      notes_.lost(
          fmt::format("annotation {}: {}: no Job has a domain for itself: name a level in spec.locality",
                      kExclusive, key));
  }

  const Json spec_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  BatchJobs jobs_;
  std::vector<std::pair<std::string, std::string>> roles_;  // replicatedJob, role
};

}  // namespace

void draftJobSet(const Json& source, JobDraft& draft) { JobSet(source, draft).draft(); }

}  // namespace trainyard::cli
