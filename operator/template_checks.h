#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/executor.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Results of the API server's dry-runs of pod templates, by namespace and template hash: a thousand equal
// jobs cost one dry-run. In memory only; a new leader repeats them.
class TemplateChecks {
 public:
  // What a pod of each role requires of its node after the API server's admission (LimitRange, RuntimeClass
  // overhead, injected sidecars and selectors). Holds only roles that differ from their template.
  using AdmittedShapes = std::map<std::string, model::PodShape>;

  // Absent: unknown. Empty: the templates are valid. Otherwise: what is wrong with which field.
  [[nodiscard]] std::optional<std::string> outcome(const model::Job& job, base::Instant now) const;
  // Reports for many jobs in turn whether their templates are valid. Keeps the last answer, since neighbours
  // often have equal templates.
  class Fine {
   public:
    Fine(const TemplateChecks& checks, base::Instant now) : checks_(checks), now_(now) {}
    [[nodiscard]] bool operator()(const model::Job& job);

   private:
    const TemplateChecks& checks_;
    base::Instant now_;
    const model::Job* last_ = nullptr;
    bool fine_ = false;
  };
  // Replaces the snapshot's jobs by asAdmitted(), and drops the copies of jobs that it does not have.
  void overlay(model::Snapshot& snapshot);
  // The job with the shapes that its pods will have; nullptr if they equal those of its templates.
  // Planning with the templates alone would reserve too little, and every such attempt would fail at the
  // barrier.
  [[nodiscard]] std::shared_ptr<const model::Job> asAdmitted(const std::shared_ptr<const model::Job>& job);

  // Marks the question as asked. Returns false if the question of an equal job is under way. Must be followed
  // by passed(), failed…() or unanswered().
  [[nodiscard]] bool ask(const model::Job& job) { return asked_.insert(keyOf(job)).second; }
  [[nodiscard]] bool asked(const model::Job& job) const { return asked_.contains(keyOf(job)); }
  void unanswered(const model::Job& job) { asked_.erase(keyOf(job)); }

  void passed(const model::Job& job, AdmittedShapes shapes);
  // Records that the operator itself cannot make a pod of the template.
  void failed(const model::Job& job, std::string message);
  // Records that the API server refused the pod with 403 or 422. Every such refusal may be transient: quotas,
  // LimitRanges, policies, webhooks and ServiceAccounts decide besides the template, and not all can be
  // watched. The check is repeated after 1 s, 2 s, 4 s and so on, at most 30 s. With more than 300 refused
  // templates the delay grows, so that at most ten checks run per second.
  void failedForNow(const model::Job& job, std::string message, base::Instant now);
  // After a failed attempt: admission may have changed, so the next attempt checks the templates again.
  void forget(const model::Job& job);

  // When the next refused template is to be checked again.
  [[nodiscard]] std::optional<base::Instant> nextWake(base::Instant now) const;

 private:
  struct Outcome {
    std::string message;
    base::Instant until = base::Instant::max();
    int refusals = 0;  // transient ones in a row
    AdmittedShapes shapes = {};
  };
  struct Enlarged {
    std::shared_ptr<const model::Job> from;
    std::shared_ptr<const model::Job> to;
  };
  // Namespace, template hash, and whether the job requests more memory than its templates because it ran out
  // of memory. Other jobs with these templates do not.
  using Key = std::tuple<std::string, std::string, bool>;
  using KeyView = std::tuple<std::string_view, std::string_view, bool>;
  struct Less {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    bool operator()(const KeyView& a, const KeyView& b) const { return a < b; }
  };
  static Key keyOf(const model::Job& job) { return {job.key.ns, job.spec.templateHash, enlarged(job)}; }
  static KeyView viewOf(const model::Job& job) { return {job.key.ns, job.spec.templateHash, enlarged(job)}; }
  static bool enlarged(const model::Job& job) {
    return job.status.restarts.of(model::FailureClass::kHostOutOfMemory) > 0;
  }
  void store(const model::Job& job, Outcome outcome);

  std::set<Key> asked_;
  std::map<Key, Outcome, Less> outcomes_;
  std::set<Key> refusedForNow_;                  // subset of outcomes_; usually few
  std::set<Key> reshaped_;                       // subset of outcomes_ with shapes; mostly empty
  std::map<model::ObjectKey, Enlarged> copies_;  // made once for each version of a job
};

// True if two shapes require the same of a node for placement. The tolerations that every pod gets for
// unready nodes concern eviction, not placement.
[[nodiscard]] bool equalForPlacement(const model::PodShape& a, const model::PodShape& b);

}  // namespace trainyard::operator_
