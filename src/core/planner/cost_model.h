#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/planner/nnls.h"

namespace trainyard::core {

// Nodes that are equal for a plan.
struct NodePool {
  std::string gpuType = {};  // empty: without GPUs, or of an unlabelled type
  double slowness = 1;       // seconds of a step there / on the reference type of the coefficients
  double nicBytesPerSecond = 1.25e9;
  int nodes = 0;
  // Servers that fit beside n workers on one of the nodes, for n from 0 to as many workers as fit.
  std::vector<int> colocatedServers = {};

  [[nodiscard]] int workersPerNode() const { return static_cast<int>(colocatedServers.size()) - 1; }
  friend bool operator==(const NodePool&, const NodePool&) = default;
};

// A placement up to symmetry: numbers of nodes of a pool, with equal numbers of each role.
struct Spread {
  struct Part {
    std::size_t pool = 0;
    int nodes = 0;
    int workers = 0;  // on each of them
    int servers = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;

  [[nodiscard]] int workers() const;
  [[nodiscard]] int servers() const;
  [[nodiscard]] int nodes() const;
  friend bool operator==(const Spread&, const Spread&) = default;
};

// The properties of the model; seconds and bytes.
struct TrainingModel {
  bool parameterServers = false;
  bool synchronous = true;
  double largestTensorShare = 0;  // as a fraction of all parameters, 0 to 1
  double batch = 0;               // samples of a step over all workers; 0: perWorker for each
  double perWorker = 0;           // samples
  double maxPerWorker = 0;        // 0: no bound
  double sampleBytes = 0;
  double inputBytesPerSecond = 0;  // of one node; 0: no bound
};

// Seconds, all at least 0. `overlap` is not linear in the step time; the fit chooses it among a few values.
struct Coefficients {
  enum Index : std::size_t { kFixed, kPerSample, kWire, kLocal, kHop, kCount };
  // kFixed: per step of a worker; kPerSample: per sample of that step; kWire: all parameters once through the
  // reference NIC; kLocal: all parameters between the GPUs of one node; kHop: one hop of a message.
  std::array<double, kCount> values{};
  double overlap = 0;            // fraction of a worker's computation that hides the exchange
  double referenceNic = 1.25e9;  // bytes a second
  Matrix covariance;             // of the values; empty: unknown
  double relativeNoise = 0;      // of one measured step, by the residuals of the fit
  friend bool operator==(const Coefficients&, const Coefficients&) = default;
};

// The step as a sum over the coefficients, before the overlap is subtracted.
struct StepTerms {
  std::array<double, Coefficients::kCount> amounts{};
  double inputSeconds = 0;
  bool crossesNodes = false;
};

// What limits a step.
enum class Bottleneck { kCompute, kInput, kNetwork, kLocalExchange };

struct StepPrediction {
  double seconds = 0;
  double compute = 0;
  double input = 0;
  double exchange = 0;       // the part that the computation does not hide
  double samples = 0;        // in one step, over all workers
  double relativeError = 0;  // one standard deviation
  Bottleneck bottleneck = Bottleneck::kCompute;

  [[nodiscard]] double samplesPerSecond() const { return seconds > 0 ? samples / seconds : 0; }
};

// Predicts the time of a step for a spread. Assumes equal workers, and NICs that send and receive at once.
//
//  compute   steps of accumulation x (kFixed + kPerSample x samples of one worker) x slowness of the slowest
//            pool (asynchronous: of the mean one)
//  input     samples of the node with most workers x bytes of one / what a node reads
//  exchange  all-reduce, n nodes, r workers: the better of
//              ring  kWire x 2(r-1)/r x crowd + kHop x 2(r-1)    (Patarasuk and Yuan, JPDC 69(2), 2009)
//              tree  kWire x 2 x crowd + kHop x 2 ceil(log2 r)   (Sanders, Speck and Traeff, 2009)
//            parameter servers: kWire x the busiest NIC's bytes in either direction, for push and for pull,
//            / those of all parameters + kHop x the senders of the busiest server + kLocal x the bytes that
//            the busiest server adds up, in the same unit; a node with s of the servers and w of the W
//            workers moves share(s) x (W - w) for other nodes and w x (1 - share(s)) for its own workers;
//            all-reduce within one node: kLocal x 2(r-1)/r x (1 + 0.3 (r-2))
//  step      max(compute + max(0, exchange - overlap x compute), input)
//
// `crowd` is the loss of ring and tree where several workers share a NIC, 1 + 0.1 (most workers of a node -
// 1), and x 1.5 with only two nodes: all traffic then goes between one pair, through the few connections that
// it opens. Both numbers, and the 0.3, are measured: docs/planner.md. A server's share is 1/servers, but one
// server holds at least the largest tensor, which cannot be split.
[[nodiscard]] StepTerms stepTerms(const Spread& spread, const std::vector<NodePool>& pools,
                                  const TrainingModel& model, const Coefficients& coefficients);
[[nodiscard]] StepPrediction predictStep(const Spread& spread, const std::vector<NodePool>& pools,
                                         const TrainingModel& model, const Coefficients& coefficients);

}  // namespace trainyard::core
