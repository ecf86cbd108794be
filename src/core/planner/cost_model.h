#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/planner/nnls.h"

namespace trainyard::core {

// Nodes that are alike to a plan.
struct NodePool {
  std::string gpuType = {};  // empty: without GPUs, or of a type that nobody names
  double slowness = 1;       // seconds of one step there / on the type that coefficients are given for
  double nicBytesPerSecond = 1.25e9;
  int nodes = 0;
  // Servers that fit beside so many workers on one of them, from 0 workers to as many as fit.
  std::vector<int> serversBeside = {};

  [[nodiscard]] int workersPerNode() const { return static_cast<int>(serversBeside.size()) - 1; }
  friend bool operator==(const NodePool&, const NodePool&) = default;
};

// Where members lie, up to symmetry: so many nodes of a pool with so many of each role.
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

// What is known of the model; seconds and bytes.
struct TrainingModel {
  bool parameterServers = false;
  bool synchronous = true;
  double largestTensorShare = 0;  // of all parameters, 0 to 1
  double batch = 0;               // of a step over all workers; 0: perWorker of each
  double perWorker = 0;           // samples
  double maxPerWorker = 0;        // 0: no bound
  double sampleBytes = 0;
  double inputBytesPerSecond = 0;  // of one node; 0: no bound
};

// Seconds, all at least 0. `overlap` is not linear in the step time, and is chosen among a few values.
struct Coefficients {
  enum Index : std::size_t { kFixed, kPerSample, kWire, kLocal, kHop, kCount };
  // kFixed: of a worker's step; kPerSample: of each sample in it; kWire: all parameters once through the NIC
  // of reference; kLocal: the same between the GPUs of one node; kHop: one hop of a message.
  std::array<double, kCount> values{};
  double overlap = 0;            // of a worker's computation, under which gradients travel
  double referenceNic = 1.25e9;  // bytes a second
  Matrix covariance;             // of the values; empty: not known
  double relativeNoise = 0;      // of one measured step, by what the fit leaves over
  friend bool operator==(const Coefficients&, const Coefficients&) = default;
};

// The step as a sum over the coefficients, before the overlap is taken off.
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
  double exchange = 0;       // that does not hide behind the computation
  double samples = 0;        // of a step, over all workers
  double relativeError = 0;  // one standard deviation
  Bottleneck bottleneck = Bottleneck::kCompute;

  [[nodiscard]] double samplesPerSecond() const { return seconds > 0 ? samples / seconds : 0; }
};

// How long a step takes where the members lie. Assumes like workers, and NICs that send and receive at once.
//
//  compute   steps of accumulation x (kFixed + kPerSample x samples of one worker) x slowness of the slowest
//            pool (asynchronous: of the mean one)
//  input     samples of the node with most workers x bytes of one / what a node reads
//  exchange  all-reduce, n nodes, r workers: the better of
//              ring  kWire x 2(r-1)/r x crowd + kHop x 2(r-1)    (Patarasuk and Yuan, JPDC 69(2), 2009)
//              tree  kWire x 2 x crowd + kHop x 2 ceil(log2 r)   (Sanders, Speck and Traeff, 2009)
//            parameter servers: kWire x the busiest NIC's bytes in either direction, for push and for pull,
//            / those of all parameters + kHop x the senders of the busiest server; a node with s of the
//            servers and w of the W workers moves share(s) x (W - w) for others and w x (1 - share(s)) for
//            its own and kLocal x the bytes that the busiest server adds up, in the same parts all-reduce
//            within one node: kLocal x 2(r-1)/r x (1 + 0.3 (r-2))
//  step      max(compute + max(0, exchange - overlap x compute), input)
//
// `crowd` is what ring and tree lose where several workers share a NIC, 1 + 0.1 (most workers of a node - 1),
// and where there are two nodes only, x 1.5: all traffic then goes between one pair, by as few connections
// as that opens. Both numbers, and the 0.3, are from measurements: docs/planner.md.
// A server's share is 1/servers, but one holds at least the largest tensor, which cannot be split.
[[nodiscard]] StepTerms stepTerms(const Spread& spread, const std::vector<NodePool>& pools,
                                  const TrainingModel& model, const Coefficients& coefficients);
[[nodiscard]] StepPrediction predictStep(const Spread& spread, const std::vector<NodePool>& pools,
                                         const TrainingModel& model, const Coefficients& coefficients);

}  // namespace trainyard::core
