#include "core/schedule_memo.h"

#include "core/shape_key.h"

namespace trainyard::core {
namespace {

// Stale entries that may stay before anybody sweeps.
constexpr std::size_t kSlack = 256;

}  // namespace

void ScheduleMemo::begin(std::uint64_t ledgerVersion) {
  if (ledgerVersion == version_) return;
  version_ = ledgerVersion;
  failures_.clear();
  attainable.clear();
}

void ScheduleMemo::end(std::size_t jobs) {
  if (jobs_.size() > jobs + kSlack) {
    std::erase_if(jobs_, [this](const auto& entry) { return entry.second.used != round_; });
  }
  // Numbers are given anew then: nothing may remember the old ones.
  if (shapes_.size() > jobs + kSlack) clear();
  ++round_;
}

void ScheduleMemo::clear() {
  jobs_.clear();
  shapes_.clear();
  failures_.clear();
  attainable.clear();
}

std::uint32_t ScheduleMemo::shapeOf(const JobPtr& job) {
  const auto [known, isNew] = jobs_.try_emplace(job.get());
  if (isNew) {
    const auto next = static_cast<std::uint32_t>(shapes_.size());
    known->second = {job, shapes_.try_emplace(shapeKey(*job), next).first->second, round_};
  }
  known->second.used = round_;
  return known->second.shape;
}

std::shared_ptr<const model::Pending> ScheduleMemo::failure(const Question& question) const {
  const auto found = failures_.find(question);
  return found == failures_.end() ? nullptr : found->second;
}

}  // namespace trainyard::core
