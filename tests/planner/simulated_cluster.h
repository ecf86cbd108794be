#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::test {

// How good plans are on a cluster that works by other rules than the planner's cost model.
//
// The cluster: 30 machines. 10 without GPUs (10 Gbit/s), 12 with two K80 (10 Gbit/s), 8 with four P100 (25
// Gbit/s). The jobs: six models with parameter servers and a fixed batch per worker.
//
// The truth: one step layer by layer. GPUs get more efficient with larger batches; a synchronous step waits
// for the slowest of its workers; backward passes hand over their gradients layer by layer, while the next
// layers are still computed; layers go to the server that has least so far; every server takes its layers one
// after the other, its network loses 1 % for each further sender at once, its cores add up at 6 GB/s; what is
// added up is sent back while others are still on their way.
//
// What the planner knows: parameters, largest tensor, operations for a sample, the batch, and five steps
// that were measured once, each with noise of 3 %: one worker on either type of GPU, the faster at two
// batches; two workers on two machines with a server; eight on two machines with two servers.
//
// What it is compared with: the exhaustive optimum, over all numbers of workers, machines and servers, both
// types together included, evenly spread and packed, servers beside and apart, by the truth; and three
// choices that people make: one server and a worker on every machine with GPUs; as many servers as these
// workers, one beside each; a worker on every GPU, and a server on every machine with GPUs.
struct ClusterTrial {
  std::string model;
  std::string shape = {};  // chosen
  double speed = 0;        // samples a second, by the truth
  double predicted = 0;
  double ofBest = 0;                    // in parts of the optimum
  std::string best = {};                // its shape
  std::vector<double> overManual = {};  // times as fast as each of the three
};

// Of all models, or of those named.
[[nodiscard]] std::vector<ClusterTrial> trySimulatedCluster(std::uint64_t seed,
                                                            const std::vector<std::string>& only = {});

struct ClusterSummary {
  double meanSpeedUp = 0;  // over the three choices of all models
  double meanOfBest = 0;
  double worstOfBest = 0;
};
[[nodiscard]] ClusterSummary summaryOf(const std::vector<ClusterTrial>& trials);
[[nodiscard]] std::string clusterText(const std::vector<ClusterTrial>& trials);

}  // namespace trainyard::test
