#include "planner/step_truth.h"

#include <algorithm>
#include <cmath>

namespace trainyard::test {
namespace {

using core::Spread;

constexpr double kBytes = 4;
constexpr double kLaunch = 0.012;     // s of every step
constexpr double kForward = 1.0 / 3;  // of the computation
constexpr double kJitter = 0.025;     // of one worker's step
constexpr double kIncast = 0.01;      // of the rate, for each further sender
constexpr double kAddingRate = 6e9;   // bytes a second of one server

double flopsOf(const std::string& type) { return type == "Tesla-P100" ? 7e12 : 2.4e12; }

// The bytes of each layer, the largest last, as in classifiers and embeddings; the others grow evenly.
std::vector<double> layersOf(const TrainedModel& model) {
  std::vector<double> bytes;
  const double rest = (model.parameters - model.largestTensor) * kBytes;
  const double steps = model.layers * (model.layers - 1) / 2.0;
  for (int i = 1; i < model.layers; ++i) bytes.push_back(rest * i / steps);
  bytes.push_back(model.largestTensor * kBytes);
  return bytes;
}

struct Server {
  const Spread::Part* part = nullptr;
  int machine = 0;
  double holds = 0;
};

class Step {
 public:
  Step(const TrainedModel& model, const Spread& spread, const std::vector<core::NodePool>& pools,
       double perWorker)
      : model_(model), spread_(spread), pools_(pools), workers_(spread.workers()) {
    const double samples = perWorker > 0 ? perWorker : model.perWorker;
    for (const Spread::Part& part : spread.parts) {
      if (part.workers == 0) continue;
      const double flops = flopsOf(pools[part.pool].gpuType) * samples / (samples + model.halfBatch);
      compute_ = std::max(compute_, kLaunch + model.flopsPerSample * samples / flops);
    }
    if (workers_ > 1) compute_ *= 1 + kJitter * std::sqrt(2 * std::log(workers_));
  }

  double run() {
    listServers();
    if (servers_.empty() || (spread_.nodes() == 1 && workers_ == 1)) return compute_;
    const std::vector<double> layers = layersOf(model_);
    const std::vector<std::size_t> homes = homesOf(layers);
    std::vector<double> in(machines_, 0.0);   // until when a machine's network receives
    std::vector<double> out(machines_, 0.0);  // and sends
    std::vector<double> adding(servers_.size(), 0.0);
    double sent = 0;  // by the workers' busiest machine
    double last = compute_;
    const double backward = compute_ * (1 - kForward);
    double left = model_.parameters * kBytes;
    for (std::size_t i = layers.size(); i-- > 0;) {
      left -= layers[i];
      // The deeper a layer, the earlier its gradient is available.
      const double ready = compute_ - backward * left / (model_.parameters * kBytes);
      const Server& server = servers_[homes[i]];
      const auto machine = static_cast<std::size_t>(server.machine);
      sent = std::max(sent, ready) + workerSeconds(server, layers[i]);
      in[machine] = std::max(in[machine], ready) + serverSeconds(server, layers[i]);
      double& added = adding[homes[i]];
      added = std::max({added, in[machine], sent}) + layers[i] * workers_ / kAddingRate;
      out[machine] = std::max(out[machine], added) + serverSeconds(server, layers[i]);
      last = std::max(last, out[machine]);
    }
    return last + workerSeconds(servers_[homes.front()], layers.front());
  }

 private:
  void listServers() {
    int machine = 0;
    for (const Spread::Part& part : spread_.parts) {
      for (int node = 0; node < part.nodes; ++node, ++machine) {
        for (int i = 0; i < part.servers; ++i) servers_.push_back({&part, machine});
      }
    }
    machines_ = static_cast<std::size_t>(machine);
  }

  // Assigns each layer to the server with the least bytes, the largest layers first.
  std::vector<std::size_t> homesOf(const std::vector<double>& layers) {
    std::vector<std::size_t> order(layers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return layers[a] != layers[b] ? layers[a] > layers[b] : a < b;
    });
    std::vector<std::size_t> homes(layers.size());
    for (const std::size_t layer : order) {
      const auto least = std::min_element(servers_.begin(), servers_.end(),
                                          [](const Server& a, const Server& b) { return a.holds < b.holds; });
      homes[layer] = static_cast<std::size_t>(least - servers_.begin());
      least->holds += layers[layer];
    }
    return homes;
  }

  [[nodiscard]] double serverSeconds(const Server& server, double bytes) const {
    const int remote = workers_ - server.part->workers;
    if (remote == 0) return 0;
    const double rate = pools_[server.part->pool].nicBytesPerSecond / (1 + kIncast * (remote - 1));
    return bytes * remote / rate;
  }

  // The seconds of the busiest machine; workers beside the server need no network.
  [[nodiscard]] double workerSeconds(const Server& server, double bytes) const {
    double most = 0;
    for (const Spread::Part& part : spread_.parts) {
      if (&part == server.part && part.nodes == 1) continue;
      most = std::max(most, bytes * part.workers / pools_[part.pool].nicBytesPerSecond);
    }
    return most;
  }

  const TrainedModel& model_;
  const Spread& spread_;
  const std::vector<core::NodePool>& pools_;
  int workers_;
  double compute_ = 0;
  std::vector<Server> servers_;
  std::size_t machines_ = 0;
};

}  // namespace

double trueStep(const TrainedModel& model, const Spread& spread, const std::vector<core::NodePool>& pools,
                double perWorker) {
  return Step(model, spread, pools, perWorker).run();
}

}  // namespace trainyard::test
