#include "replay/engine/thinned_samples.h"

namespace trainyard::replay {
namespace {

constexpr std::size_t kMaxSamples = 4'000;

}  // namespace

void ThinnedSamples::add(const ReplaySample& sample) {
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  samples_.push_back(sample);
  if (samples_.size() < 2 * kMaxSamples) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
  samples_.resize(kept);
  stride_ *= 2;
}

}  // namespace trainyard::replay
