#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/executor.h"
#include "model/job.h"

namespace trainyard::operator_ {

// What the API server said of pod templates, by namespace and template hash: a thousand equal jobs cost one
// dry-run. In memory only; a successor asks again.
class TemplateChecks {
 public:
  // Absent: not known. Empty: the templates are fine. Otherwise what is wrong with which field.
  [[nodiscard]] std::optional<std::string> outcome(const model::Job& job, base::Instant now) const;

  void passed(const model::Job& job);
  void failed(const model::Job& job, std::string message);
  // Refused for a reason that may pass (quota, admission policy, a namespace without its ServiceAccount yet):
  // asked again soon at first, then less and less often.
  void failedForNow(const model::Job& job, std::string message, base::Instant now);

  // When the next such refusal is to be asked about again.
  [[nodiscard]] std::optional<base::Instant> nextWake(base::Instant now) const;

 private:
  struct Outcome {
    std::string message;
    base::Instant until = base::Instant::max();
    int refusals = 0;  // in a row, of those that may pass
  };
  using Key = std::pair<std::string, std::string>;
  static Key keyOf(const model::Job& job) { return {job.key.ns, job.spec.templateHash}; }
  void store(const model::Job& job, Outcome outcome);

  std::map<Key, Outcome> outcomes_;
  std::set<Key> refusedForNow_;  // of outcomes_; few, where those may be many
};

}  // namespace trainyard::operator_
