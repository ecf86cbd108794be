#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/planner/coefficient_fit.h"
#include "core/planner/hardware.h"
#include "core/planner/job_plan.h"

namespace trainyard::core {
namespace {

using model::ModelProfile;

constexpr double kNano = 1e-9;

double speedInProfile(const ModelProfile& profile, const std::string& type) {
  for (const model::TypeSpeed& each : profile.speeds) {
    if (each.type == type) return static_cast<double>(each.milliSamplesPerSecond) / kMilli;
  }
  return 0;
}

double flopsOf(const std::string& type) {
  const double known = sustainedFlops(type);
  return known > 0 ? known : kUnknownGpuFlops;
}

// Returns the reference type of the coefficients: the first measured type, else the first with a declared
// speed, else the fastest in the pools.
std::string referenceType(const ModelProfile& profile, const std::vector<NodePool>& pools) {
  for (const model::MeasuredStep& each : profile.measurements) {
    if (!each.gpuType.empty()) return each.gpuType;
  }
  if (!profile.speeds.empty()) return profile.speeds.front().type;
  std::string best;
  for (const NodePool& pool : pools) {
    const bool faster = best.empty() || flopsOf(pool.gpuType) > flopsOf(best);
    if (pool.workersPerNode() > 0 && !pool.gpuType.empty() && faster) best = pool.gpuType;
  }
  return best;
}

// Returns seconds of a step on this type / on the reference type.
double slownessOf(const ModelProfile& profile, const std::string& type, const std::string& reference) {
  if (type == reference || type.empty()) return 1;
  const double own = speedInProfile(profile, type);
  const double of = speedInProfile(profile, reference);
  return own > 0 && of > 0 ? of / own : flopsOf(reference) / flopsOf(type);
}

TrainingModel trainingModel(const ModelProfile& profile, bool parameterServers) {
  TrainingModel model;
  model.parameterServers = parameterServers;
  model.synchronous = profile.synchronous;
  model.batch = static_cast<double>(profile.batchSize);
  model.perWorker = static_cast<double>(profile.batchPerWorker);
  model.maxPerWorker = static_cast<double>(profile.maxBatchPerWorker);
  model.sampleBytes = static_cast<double>(profile.sampleBytes);
  if (profile.sampleBytes > 0) model.inputBytesPerSecond = static_cast<double>(profile.inputBytesPerSecond);
  if (profile.parameters > 0) {
    model.largestTensorShare =
        static_cast<double>(profile.largestTensorBytes) / static_cast<double>(profile.parameterBytes());
  }
  // Without a declared batch, the measured one applies.
  if (model.batch <= 0 && model.perWorker <= 0) {
    for (const model::MeasuredStep& each : profile.measurements)
      model.perWorker = std::max(model.perWorker, static_cast<double>(each.batchPerWorker));
  }
  return model;
}

// The placement of a measured step, on its own pools: the free capacity of a node does not affect a step.
MeasuredSpread measuredSpread(const model::MeasuredStep& step, bool parameterServers, std::size_t pool) {
  std::map<int, int, std::greater<>> nodesBySize;
  for (const int each : step.workers) ++nodesBySize[each];
  MeasuredSpread measured;
  for (const auto& [size, nodes] : nodesBySize) measured.spread.parts.push_back({pool, nodes, size, 0});
  if (parameterServers && step.servers > 0) measured.spread.parts.push_back({pool, step.servers, 0, 1});
  measured.perWorker = static_cast<double>(step.batchPerWorker);
  measured.seconds = static_cast<double>(step.stepNanos) * kNano;
  return measured;
}

}  // namespace

FittedProfile fitProfile(const ModelProfile& profile, bool parameterServers, std::int64_t gpusPerWorker,
                         double cores, std::vector<NodePool>& pools) {
  const std::string reference = referenceType(profile, pools);
  for (NodePool& pool : pools) pool.slowness = slownessOf(profile, pool.gpuType, reference);
  double referenceNic = pools.empty() ? kNicBytesPerSecond : pools.front().nicBytesPerSecond;
  for (const NodePool& pool : pools) {
    if (pool.workersPerNode() > 0) referenceNic = std::max(referenceNic, pool.nicBytesPerSecond);
  }

  FittedProfile fitted{trainingModel(profile, parameterServers), {}};
  PriorCosts prior;
  const double gpus = static_cast<double>(std::max<std::int64_t>(gpusPerWorker, 1));
  const double profileSpeed = speedInProfile(profile, reference);
  const double flops = gpusPerWorker > 0 ? flopsOf(reference) * gpus : kCoreFlops * std::max(cores, 1.0);
  if (profileSpeed > 0) {
    prior.perSample = 1 / (profileSpeed * gpus);
  } else if (profile.flopsPerSample > 0) {
    prior.perSample = static_cast<double>(profile.flopsPerSample) / flops;
  }
  prior.wire = static_cast<double>(profile.parameterBytes()) / referenceNic;

  std::vector<NodePool> measuredOn;
  std::vector<MeasuredSpread> measured;
  for (const model::MeasuredStep& each : profile.measurements) {
    const double slowness = slownessOf(profile, each.gpuType, reference);
    measured.push_back(measuredSpread(each, parameterServers, measuredOn.size()));
    measuredOn.push_back({.gpuType = each.gpuType, .slowness = slowness, .nicBytesPerSecond = referenceNic});
  }
  fitted.coefficients = fitCoefficients(measured, measuredOn, fitted.model, prior, referenceNic);
  return fitted;
}

}  // namespace trainyard::core
