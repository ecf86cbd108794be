#include "core/order/gittins_index.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/order/order_policy.h"

namespace trainyard::core {
namespace {

// A neighbour submitted this far apart counts half. A distant one still counts a little, so that the kind as
// a whole is used where no neighbour is near.
constexpr double kNear = 7'200;
constexpr double kFloor = 0.02;
// The unseen jobs: together they weigh a tenth of a neighbour, and end after these multiples of the run time
// so far, or of an hour if the job is younger.
constexpr double kUnseenWeight = 0.1;
constexpr std::array<double, 6> kUnseenMultiples{0.1, 0.3, 1, 3, 10, 30};

struct Sample {
  double at = 0;  // s of running
  double weight = 0;
  bool ended = false;
};

double bestRate(std::vector<Sample>& samples, double ran) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.at < b.at; });
  double atRisk = 0;
  for (const Sample& sample : samples) atRisk += sample.weight;
  double survives = 1;
  double expected = 0;  // seconds invested until the horizon or the end, whichever comes first
  double last = ran;
  double best = 0;
  for (const Sample& sample : samples) {
    expected += survives * (sample.at - last);
    last = sample.at;
    if (sample.ended) {
      survives *= 1 - sample.weight / atRisk;
      // `expected` is positive here, even for runs of equal length: every `at` exceeds `ran`.
      best = std::max(best, (1 - survives) / expected);
    }
    atRisk -= sample.weight;
    if (atRisk <= 0) break;
  }
  return best;
}

}  // namespace

double weightOf(const KnownRun& run) { return 1 / (1 + run.apart / kNear) + kFloor; }

double gittinsIndex(const std::vector<KnownRun>& others, double ran) {
  std::vector<Sample> samples;
  samples.reserve(others.size() + kUnseenMultiples.size());
  for (const KnownRun& other : others) {
    if (other.ran > ran) samples.push_back({other.ran, weightOf(other), other.ended});
  }
  const double scale = std::max(ran, std::chrono::duration<double>(kYoung).count());
  for (const double multiple : kUnseenMultiples) {
    samples.push_back({ran + scale * multiple, kUnseenWeight / kUnseenMultiples.size(), true});
  }
  return bestRate(samples, ran);
}

}  // namespace trainyard::core
