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

// What the API server said of pod templates, by namespace and template hash: a thousand equal jobs cost one
// dry-run. In memory only; a successor asks again.
class TemplateChecks {
 public:
  // What a pod of each role asks of its node once the API server's admission has had its say (LimitRange,
  // RuntimeClass overhead, injected sidecars and selectors); only roles where that differs from the template.
  using AdmittedShapes = std::map<std::string, model::PodShape>;

  // Absent: not known. Empty: the templates are fine. Otherwise what is wrong with which field.
  [[nodiscard]] std::optional<std::string> outcome(const model::Job& job, base::Instant now) const;
  // Whether the outcome is that a job's templates are fine, for many jobs in turn: neighbours are often
  // alike.
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
  // Puts asAdmitted() of its jobs into the snapshot, and lets go of all that it does not have any more.
  void overlay(model::Snapshot& snapshot);
  // The job with the shapes that its pods will have; nullptr where they are those of its templates.
  // Planning with the templates alone would reserve too little, and every such attempt would end at the
  // barrier.
  [[nodiscard]] std::shared_ptr<const model::Job> asAdmitted(const std::shared_ptr<const model::Job>& job);

  // Marks the question as asked; false when an equal job's is under way. Ends with passed(), failed…() or
  // unanswered().
  [[nodiscard]] bool ask(const model::Job& job) { return asked_.insert(keyOf(job)).second; }
  [[nodiscard]] bool asked(const model::Job& job) const { return asked_.contains(keyOf(job)); }
  void unanswered(const model::Job& job) { asked_.erase(keyOf(job)); }

  void passed(const model::Job& job, AdmittedShapes shapes);
  // The operator itself cannot make a pod of the template.
  void failed(const model::Job& job, std::string message);
  // The API server refused it, with 403 or 422. Every such refusal may pass: quotas, LimitRanges, policies,
  // webhooks and ServiceAccounts decide on it besides the template, and they cannot all be watched. It is
  // asked again after 1 s, 2 s, 4 s and so on, at most 30 s; if more than 300 templates are refused, so
  // rarely that no more than ten are asked a second.
  void failedForNow(const model::Job& job, std::string message, base::Instant now);
  // An attempt failed: what admission does to the pods may have changed, so the next one asks again.
  void forget(const model::Job& job);

  // When the next such refusal is to be asked about again.
  [[nodiscard]] std::optional<base::Instant> nextWake(base::Instant now) const;

 private:
  struct Outcome {
    std::string message;
    base::Instant until = base::Instant::max();
    int refusals = 0;  // in a row, of those that may pass
    AdmittedShapes shapes = {};
  };
  struct Enlarged {
    std::shared_ptr<const model::Job> from;
    std::shared_ptr<const model::Job> to;
  };
  // Namespace, hash of the templates, and whether the job asks for more memory than they say, as it ran out
  // of it: others with these templates do not.
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
  std::set<Key> refusedForNow_;                  // of outcomes_; few, where those may be many
  std::set<Key> reshaped_;                       // of outcomes_, those with shapes; mostly none
  std::map<model::ObjectKey, Enlarged> copies_;  // made once for each version of a job
};

// Whether two shapes ask the same of a node at placing time. The tolerations that every pod gets for nodes
// that become unready decide about eviction, not about placing.
[[nodiscard]] bool placeAlike(const model::PodShape& a, const model::PodShape& b);

}  // namespace trainyard::operator_
