#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/network/bands.h"

namespace trainyard::replay {

// The set-up of TensorLights (HPBDC 2019): as many jobs as hosts, each with a parameter server and a worker
// on every other host, synchronous steps. A placement is the number of servers on each of the first hosts.
//
// The simulation goes packet by packet; a packet is `packetBytes` of one flow. It waits in its host's
// outgoing queue, then in the receiver's incoming one, each served at the link's rate. Outgoing queues have
// bands if the agent orders them; incoming ones are first come, first served. Each flow has `window` packets
// in flight, and the next one leaves when one has arrived, as TCP's flows share a queue. A worker computes
// after it has the model, then sends as much back; the next step begins when all have answered.
//
// Not modelled: loss, slow start, processors shared by workers.
struct TensorLightsOptions {
  int hosts = 21;
  std::vector<int> placement = {21};    // sums to `hosts`
  std::int64_t modelBytes = 1'860'000;  // ResNet-32 for CIFAR-10: 0.46 million parameters of four bytes
  std::int64_t bytesPerSecond = 1'250'000'000;
  std::int64_t packetBytes = 65'536;
  int window = 4;
  std::int64_t computeMicros = 100'000;  // of a step; varies by up to a tenth
  int steps = 100;
  std::int64_t turnMicros = 20'000'000;
  std::uint64_t seed = 1;
};

// kFifo: no agent. The others are as in core::BandPolicy.
enum class TensorLightsPolicy { kFifo, kOne, kRoundRobin, kBursts };

struct TensorLightsResult {
  std::vector<double> seconds;  // of each job, from the common start
  double meanSeconds = 0;
  double makespanSeconds = 0;
  std::int64_t packets = 0;
};

[[nodiscard]] TensorLightsResult runTensorLights(const TensorLightsOptions& options,
                                                 TensorLightsPolicy policy);

// The paper's eight placements of 21 servers.
[[nodiscard]] const std::vector<std::vector<int>>& tensorLightsPlacements();

// Formats one row for each placement: mean completion times, and the gain of each policy over FIFO.
[[nodiscard]] std::string tensorLightsTable(const TensorLightsOptions& options,
                                            const std::vector<std::vector<int>>& placements);

}  // namespace trainyard::replay
