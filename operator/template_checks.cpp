#include "operator/template_checks.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/one_per_node.h"

namespace trainyard::operator_ {

namespace {

// Far above the templates of one cluster. Reaching it only costs repeated dry-runs.
constexpr std::size_t kMaxOutcomes = 20'000;
constexpr base::Instant::duration kFirstRefusal = std::chrono::seconds(1);
constexpr base::Instant::duration kLastRefusal = std::chrono::seconds(30);
constexpr base::Instant::duration kBetweenQuestions = std::chrono::milliseconds(100);

bool isEvictionDelay(const model::Toleration& toleration) {
  return toleration.effect == model::TaintEffect::kNoExecute &&
         (toleration.key == "node.kubernetes.io/not-ready" ||
          toleration.key == "node.kubernetes.io/unreachable");
}

std::vector<model::Toleration> withoutEvictionDelays(std::vector<model::Toleration> tolerations) {
  std::erase_if(tolerations, isEvictionDelay);
  return tolerations;
}

}  // namespace

bool equalForPlacement(const model::PodShape& a, const model::PodShape& b) {
  return a.requests == b.requests && a.nodeSelector == b.nodeSelector && a.affinity == b.affinity &&
         a.preferred == b.preferred && a.volumeClaims == b.volumeClaims &&
         a.ephemeralVolumes == b.ephemeralVolumes &&
         withoutEvictionDelays(a.tolerations) == withoutEvictionDelays(b.tolerations);
}

std::optional<std::string> TemplateChecks::outcome(const model::Job& job, base::Instant now) const {
  const auto found = outcomes_.find(viewOf(job));
  if (found == outcomes_.end() || now >= found->second.until) return std::nullopt;
  return found->second.message;
}

bool TemplateChecks::Fine::operator()(const model::Job& job) {
  if (last_ != nullptr && viewOf(*last_) == viewOf(job)) return fine_;
  last_ = &job;
  const auto found = checks_.outcomes_.find(viewOf(job));
  fine_ = found != checks_.outcomes_.end() && now_ < found->second.until && found->second.message.empty();
  return fine_;
}

std::shared_ptr<const model::Job> TemplateChecks::asAdmitted(const std::shared_ptr<const model::Job>& job) {
  if (reshaped_.empty() || !reshaped_.contains(keyOf(*job))) return nullptr;
  Enlarged& copy = copies_[job->key];
  if (copy.from == job) return copy.to;
  const AdmittedShapes& shapes = outcomes_.find(keyOf(*job))->second.shapes;
  auto enlarged = std::make_shared<model::Job>(*job);
  for (model::Role& role : enlarged->spec.roles) {
    const auto shape = shapes.find(role.name);
    if (shape == shapes.end()) continue;
    // A dry-run shows neither where volumes are nor which of them are counted.
    auto tiedTo = std::move(role.shape.volumeAffinity);
    const model::Resources::Extended counted = role.shape.requests.extendedAll();
    role.shape = shape->second;
    role.shape.volumeAffinity = std::move(tiedTo);
    for (const auto& [name, amount] : counted) {
      if (name.starts_with(model::kLocalVolumePrefix)) role.shape.requests.setExtended(name, amount);
    }
  }
  copy = {job, std::move(enlarged)};
  return copy.to;
}

void TemplateChecks::overlay(model::Snapshot& snapshot) {
  auto before = std::exchange(copies_, {});
  if (reshaped_.empty()) return;
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    const auto job = snapshot.jobs[i];
    if (!reshaped_.contains(keyOf(*job))) continue;
    if (auto known = before.extract(job->key)) copies_.insert(std::move(known));
    snapshot.jobs.edit()[i] = asAdmitted(job);
  }
}

void TemplateChecks::passed(const model::Job& job, AdmittedShapes shapes) {
  Outcome outcome;
  outcome.shapes = std::move(shapes);
  store(job, std::move(outcome));
}

void TemplateChecks::failed(const model::Job& job, std::string message) {
  Outcome outcome;
  outcome.message = std::move(message);
  store(job, std::move(outcome));
}

void TemplateChecks::failedForNow(const model::Job& job, std::string message, base::Instant now) {
  const Key key = keyOf(job);
  const auto before = outcomes_.find(key);
  const int refusals = before == outcomes_.end() ? 0 : before->second.refusals;
  const base::Instant::duration last =
      std::max(kLastRefusal, kBetweenQuestions * static_cast<std::int64_t>(refusedForNow_.size()));
  base::Instant::duration delay = kFirstRefusal;
  for (int i = 0; i < refusals && delay < last; ++i) delay *= 2;
  store(job, {std::move(message), now + std::min(delay, last), refusals + 1});
  refusedForNow_.insert(key);
}

void TemplateChecks::forget(const model::Job& job) {
  const Key key = keyOf(job);
  outcomes_.erase(key);
  refusedForNow_.erase(key);
  reshaped_.erase(key);
  copies_.erase(job.key);
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
    reshaped_.clear();
    copies_.clear();
  }
  const Key key = keyOf(job);
  asked_.erase(key);
  refusedForNow_.erase(key);
  reshaped_.erase(key);
  std::erase_if(copies_, [&](const auto& copy) { return keyOf(*copy.second.from) == key; });
  if (!outcome.shapes.empty()) reshaped_.insert(key);
  outcomes_[key] = std::move(outcome);
}

}  // namespace trainyard::operator_
