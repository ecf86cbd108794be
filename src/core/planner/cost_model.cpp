#include "core/planner/cost_model.h"

#include <algorithm>
#include <cmath>

namespace trainyard::core {
namespace {

constexpr double kTwoNodes = 1.5;
constexpr double kCrowd = 0.1;
constexpr double kLocalCrowd = 0.3;

struct Batch {
  double perWorker = 0;
  double accumulated = 1;  // number of accumulation steps
};

Batch batchOf(const TrainingModel& model, int workers) {
  Batch batch{model.batch > 0 ? model.batch / workers : model.perWorker};
  if (model.maxPerWorker > 0 && batch.perWorker > model.maxPerWorker) {
    batch.accumulated = std::ceil(batch.perWorker / model.maxPerWorker);
    batch.perWorker /= batch.accumulated;
  }
  return batch;
}

double slownessOf(const Spread& spread, const std::vector<NodePool>& pools, bool slowest) {
  double most = 0;
  double speed = 0;
  for (const Spread::Part& part : spread.parts) {
    if (part.workers == 0) continue;
    most = std::max(most, pools[part.pool].slowness);
    speed += part.nodes * part.workers / pools[part.pool].slowness;
  }
  return slowest ? most : spread.workers() / speed;
}

// The parts of all parameters (which sum to 1) that the servers hold: evenly, except for the largest tensor.
struct ServerShares {
  double one = 0;
  double largest = 0;

  ServerShares(int servers, double largestTensor) {
    largest = std::max(1.0 / servers, largestTensor);
    one = servers > 1 ? (1.0 - largest) / (servers - 1) : largest;
  }
  // The part that a node with this many servers holds; it has the server of the largest tensor.
  [[nodiscard]] double of(int servers) const { return servers == 0 ? 0 : largest + (servers - 1) * one; }
};

// The busiest NIC's bytes relative to all parameters' bytes, through the reference NIC, for push and pull.
double serverWire(const Spread& spread, const std::vector<NodePool>& pools, const TrainingModel& model,
                  const Coefficients& coefficients) {
  const int workers = spread.workers();
  const ServerShares shares(spread.servers(), model.largestTensorShare);
  double most = 0;
  for (const Spread::Part& part : spread.parts) {
    const double share = shares.of(part.servers);
    const double served = share * (workers - part.workers);
    const double own = part.workers * (1.0 - share);
    most = std::max(most,
                    std::max(served, own) * coefficients.referenceNic / pools[part.pool].nicBytesPerSecond);
  }
  return 2 * most;
}

void addServers(const Spread& spread, const std::vector<NodePool>& pools, const TrainingModel& model,
                const Coefficients& coefficients, StepTerms& terms) {
  const ServerShares shares(spread.servers(), model.largestTensorShare);
  terms.amounts[Coefficients::kLocal] = shares.largest * spread.workers();
  if (!terms.crossesNodes) return;
  terms.amounts[Coefficients::kWire] = serverWire(spread, pools, model, coefficients);
  int senders = 0;
  for (const Spread::Part& part : spread.parts) {
    if (part.servers > 0) senders = std::max(senders, spread.workers() - part.workers);
  }
  terms.amounts[Coefficients::kHop] = senders;
}

void addAllReduce(const Spread& spread, const std::vector<NodePool>& pools, const Coefficients& coefficients,
                  StepTerms& terms) {
  const int workers = spread.workers();
  if (workers < 2) return;
  const double ring = 2.0 * (workers - 1) / workers;
  if (!terms.crossesNodes) {
    terms.amounts[Coefficients::kLocal] = ring * (1 + kLocalCrowd * (workers - 2));
    return;
  }
  int most = 0;
  double slowestNic = 0;
  for (const Spread::Part& part : spread.parts) {
    most = std::max(most, part.workers);
    slowestNic = std::max(slowestNic, coefficients.referenceNic / pools[part.pool].nicBytesPerSecond);
  }
  const double crowd = slowestNic * (1 + kCrowd * (most - 1)) * (spread.nodes() == 2 ? kTwoNodes : 1.0);
  const double hops = 2 * std::ceil(std::log2(workers));
  const double wire = coefficients.values[Coefficients::kWire];
  const double hop = coefficients.values[Coefficients::kHop];
  const bool byRing = wire * crowd * ring + hop * 2 * (workers - 1) <= wire * crowd * 2 + hop * hops;
  terms.amounts[Coefficients::kWire] = crowd * (byRing ? ring : 2);
  terms.amounts[Coefficients::kHop] = byRing ? 2 * (workers - 1) : hops;
}

double sumOf(const StepTerms& terms, const Coefficients& coefficients, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += terms.amounts[i] * coefficients.values[i];
  return sum;
}

// One standard deviation of the predicted step by the covariance of the coefficients, over `seconds`.
double relativeErrorOf(const StepTerms& terms, const Coefficients& coefficients, double hidden,
                       double seconds) {
  if (coefficients.covariance.empty() || seconds <= 0) return coefficients.relativeNoise;
  std::array<double, Coefficients::kCount> amounts = terms.amounts;
  amounts[Coefficients::kFixed] *= 1 - hidden;
  amounts[Coefficients::kPerSample] *= 1 - hidden;
  double variance = 0;
  for (std::size_t i = 0; i < Coefficients::kCount; ++i) {
    for (std::size_t j = 0; j < Coefficients::kCount; ++j)
      variance += amounts[i] * coefficients.covariance[i][j] * amounts[j];
  }
  return std::sqrt(std::max(variance, 0.0)) / seconds;
}

}  // namespace

int Spread::workers() const {
  int sum = 0;
  for (const Part& part : parts) sum += part.nodes * part.workers;
  return sum;
}

int Spread::servers() const {
  int sum = 0;
  for (const Part& part : parts) sum += part.nodes * part.servers;
  return sum;
}

int Spread::nodes() const {
  int sum = 0;
  for (const Part& part : parts) sum += part.nodes;
  return sum;
}

StepTerms stepTerms(const Spread& spread, const std::vector<NodePool>& pools, const TrainingModel& model,
                    const Coefficients& coefficients) {
  StepTerms terms;
  const int workers = spread.workers();
  const Batch batch = batchOf(model, workers);
  const double slowness = slownessOf(spread, pools, model.synchronous) * batch.accumulated;
  terms.amounts[Coefficients::kFixed] = slowness;
  terms.amounts[Coefficients::kPerSample] = slowness * batch.perWorker;
  terms.crossesNodes = spread.nodes() > 1;
  if (model.inputBytesPerSecond > 0) {
    int most = 0;
    for (const Spread::Part& part : spread.parts) most = std::max(most, part.workers);
    terms.inputSeconds =
        most * batch.perWorker * batch.accumulated * model.sampleBytes / model.inputBytesPerSecond;
  }
  if (model.parameterServers && spread.servers() > 0) {
    addServers(spread, pools, model, coefficients, terms);
  } else {
    addAllReduce(spread, pools, coefficients, terms);
  }
  return terms;
}

StepPrediction predictStep(const Spread& spread, const std::vector<NodePool>& pools,
                           const TrainingModel& model, const Coefficients& coefficients) {
  const StepTerms terms = stepTerms(spread, pools, model, coefficients);
  StepPrediction step;
  step.compute = sumOf(terms, coefficients, Coefficients::kFixed, Coefficients::kWire);
  step.input = terms.inputSeconds;
  const double exchange = sumOf(terms, coefficients, Coefficients::kWire, Coefficients::kCount);
  const double hidden = terms.crossesNodes ? coefficients.overlap : 0;
  step.exchange = std::max(0.0, exchange - hidden * step.compute);
  step.seconds = std::max(step.compute + step.exchange, step.input);
  const int workers = spread.workers();
  step.samples = model.batch > 0 ? model.batch : model.perWorker * workers;
  if (step.input > step.compute + step.exchange) {
    step.bottleneck = Bottleneck::kInput;
  } else if (step.exchange > step.compute) {
    step.bottleneck = terms.crossesNodes ? Bottleneck::kNetwork : Bottleneck::kLocalExchange;
  }
  step.relativeError = relativeErrorOf(terms, coefficients, step.exchange > 0 ? hidden : 0, step.seconds);
  return step;
}

}  // namespace trainyard::core
