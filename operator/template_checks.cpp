#include "operator/template_checks.h"

#include <algorithm>

namespace trainyard::operator_ {

namespace {
// Far above the templates of one cluster; reaching it only costs dry-runs that were made before.
constexpr std::size_t kMaxOutcomes = 20'000;
constexpr base::Instant::duration kFirstRefusal = std::chrono::seconds(1);
constexpr base::Instant::duration kLastRefusal = std::chrono::seconds(30);
}  // namespace

std::optional<std::string> TemplateChecks::outcome(const model::Job& job, base::Instant now) const {
  const auto found = outcomes_.find(keyOf(job));
  if (found == outcomes_.end() || now >= found->second.until) return std::nullopt;
  return found->second.message;
}

void TemplateChecks::passed(const model::Job& job) { store(job, {}); }

void TemplateChecks::failed(const model::Job& job, std::string message) { store(job, {std::move(message)}); }

void TemplateChecks::failedForNow(const model::Job& job, std::string message, base::Instant now) {
  const Key key = keyOf(job);
  const auto before = outcomes_.find(key);
  const int refusals = before == outcomes_.end() ? 0 : before->second.refusals;
  base::Instant::duration delay = kFirstRefusal;
  for (int i = 0; i < refusals && delay < kLastRefusal; ++i) delay *= 2;
  store(job, {std::move(message), now + std::min(delay, kLastRefusal), refusals + 1});
  refusedForNow_.insert(key);
}

std::optional<base::Instant> TemplateChecks::nextWake(base::Instant now) const {
  std::optional<base::Instant> wake;
  for (const Key& key : refusedForNow_) {
    const base::Instant until = outcomes_.at(key).until;
    if (until > now && (!wake || until < *wake)) wake = until;
  }
  return wake;
}

void TemplateChecks::store(const model::Job& job, Outcome outcome) {
  if (outcomes_.size() >= kMaxOutcomes) {
    outcomes_.clear();
    refusedForNow_.clear();
  }
  const Key key = keyOf(job);
  refusedForNow_.erase(key);
  outcomes_[key] = std::move(outcome);
}

}  // namespace trainyard::operator_
