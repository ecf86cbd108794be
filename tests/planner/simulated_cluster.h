#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::test {

// The quality of plans on a cluster with other rules than the planner's cost model.
//
// The cluster: 30 machines. 10 without GPUs (10 Gbit/s), 12 with two K80 (10 Gbit/s), 8 with four P100 (25
// Gbit/s). The jobs: six models with parameter servers and a fixed batch per worker.
//
// The truth: one step, layer by layer. GPUs are more efficient with larger batches. A synchronous step waits
// for its slowest worker. Backward passes deliver their gradients layer by layer while the next layers are
// still computed. Each layer is assigned to the server with the least so far. Every server processes its
// layers one after the other; its network loses 1 % for each further concurrent sender; its cores add up at 6
// GB/s. Sums are sent back while others are still in flight.
//
// The planner's input: parameters, largest tensor, operations per sample, the batch, and five steps that were
// measured once, each with noise of 3 %: one worker on either type of GPU, the faster at two batches; two
// workers on two machines with a server; eight on two machines with two servers.
//
// The references: the exhaustive optimum by the truth, over all numbers of workers, machines and servers,
// both types together included, evenly spread and packed, servers beside and apart; and three manual choices:
// one server and a worker on every machine with GPUs; as many servers as these workers, one beside each; a
// worker on every GPU, and a server on every machine with GPUs.
struct ClusterTrial {
  std::string model;
  std::string shape = {};  // chosen
  double speed = 0;        // samples per second, by the truth
  double predicted = 0;
  double ofBest = 0;                    // relative to the optimum
  std::string best = {};                // the optimal shape
  std::vector<double> overManual = {};  // speed relative to each of the three manual choices
};

// Runs all models, or the named ones.
[[nodiscard]] std::vector<ClusterTrial> trySimulatedCluster(std::uint64_t seed,
                                                            const std::vector<std::string>& only = {});

struct ClusterSummary {
  double meanSpeedUp = 0;  // over the three manual choices of all models
  double meanOfBest = 0;
  double worstOfBest = 0;
};
[[nodiscard]] ClusterSummary summaryOf(const std::vector<ClusterTrial>& trials);
[[nodiscard]] std::string clusterText(const std::vector<ClusterTrial>& trials);

}  // namespace trainyard::test
