#include "core/planner/fit_cache.h"

namespace trainyard::core {

const FitCache::Fit& FitCache::of(const ProfilePtr& profile, const Question& question) {
  const auto [known, isNew] = fits_.try_emplace(profile);
  Fit& fit = known->second;
  if (!isNew && fit.question == question) return fit;
  ++made_;
  fit.question = question;
  fit.pools = question.pools;
  fit.fitted =
      fitProfile(*profile, question.parameterServers, question.gpusPerWorker, question.cores, fit.pools);
  return fit;
}

void FitCache::forgetGone() {
  std::erase_if(fits_, [](const auto& each) { return each.first.expired(); });
}

}  // namespace trainyard::core
