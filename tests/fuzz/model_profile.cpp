#include "codec/model_profile.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void modelProfile(std::string_view input) {
  const auto profile = codec::decodeModelProfile(input, "file");
  if (!profile) return require(profile.error().message.starts_with("file: "), "a refusal names the file");
  require(profile->parameters >= 0 && profile->flopsPerSample >= 0 && profile->batchSize >= 0 &&
              profile->batchPerWorker >= 0 && profile->bytesPerParameter > 0,
          "no negative figure");
  require(profile->parameters == 0 || profile->largestTensorBytes <= profile->parameterBytes(),
          "a tensor is a part of all");
  for (const model::MeasuredStep& each : profile->measurements)
    require(!each.workers.empty() && each.batchPerWorker > 0 && each.stepNanos > 0, "a step took time");
}

}  // namespace trainyard::fuzz
