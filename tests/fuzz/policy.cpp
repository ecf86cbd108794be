#include "codec/policy.h"

#include <algorithm>

#include "codec/duration.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {
namespace {

bool namesLine(std::string_view message) {
  if (!message.starts_with("file:")) return false;
  message.remove_prefix(5);
  const std::string_view line = message.substr(0, message.find(':'));
  return !line.empty() && line != "0" &&
         std::all_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void policy(std::string_view input) {
  if (const auto duration = codec::parseDuration(input)) require(duration->count() >= 0, "no negative time");
  const auto policy = codec::decodePolicy(std::string(input), "file");
  if (!policy) return require(namesLine(policy.error().message), "a refusal names file and line");
  require(!policy->topology.empty(), "a network has a level");
  require(policy->relaxation.base.count() >= 0 && policy->relaxation.perGpu.count() >= 0 &&
              policy->relaxation.cap.count() >= 0 && policy->preemption.minRuntime.count() >= 0 &&
              policy->preemption.maxLostWork.count() >= 0,
          "no negative time");
  require(policy->timeSlicing.interval.count() > 0, "turns take time");
  require(!policy->usageHalfLife || policy->usageHalfLife->count() > 0, "a half-life is not zero");
  for (const model::ShapeCost& cost : policy->shapeCosts)
    require(cost.nodes > 0 && cost.gpusPerNode > 0 && cost.slowdownPermille > 0, "a shape has a size");
}

}  // namespace trainyard::fuzz
