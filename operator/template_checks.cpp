#include "operator/template_checks.h"

namespace trainyard::operator_ {

namespace {
// Far above the templates of one cluster; reaching it only costs dry-runs that were made before.
constexpr std::size_t kMaxOutcomes = 20'000;
}  // namespace

std::optional<std::string> TemplateChecks::outcome(const model::Job& job, base::Instant now) const {
  const auto found = outcomes_.find(keyOf(job));
  if (found == outcomes_.end() || now >= found->second.until) return std::nullopt;
  return found->second.message;
}

void TemplateChecks::passed(const model::Job& job) { store(job, {}); }

void TemplateChecks::failed(const model::Job& job, std::string message) { store(job, {std::move(message)}); }

void TemplateChecks::failedForNow(const model::Job& job, std::string message, base::Instant until) {
  store(job, {std::move(message), until});
}

void TemplateChecks::store(const model::Job& job, Outcome outcome) {
  if (outcomes_.size() >= kMaxOutcomes) outcomes_.clear();
  outcomes_[keyOf(job)] = std::move(outcome);
}

}  // namespace trainyard::operator_
