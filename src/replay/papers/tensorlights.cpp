#include "replay/papers/tensorlights.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rng.h"
#include "replay/papers/tensorlights_bands.h"
#include "replay/papers/tensorlights_events.h"

namespace trainyard::replay {
namespace {

constexpr std::int64_t kNanosPerMicro = 1'000;
constexpr double kNanosPerSecond = 1e9;

struct Packet {
  int flow = 0;
  std::int64_t bytes = 0;
};

// A flow from a server to a worker, or back.
struct Flow {
  int job = 0;
  int from = 0;
  int to = 0;
  bool toWorker = false;
  std::int64_t unsent = 0;
  std::int64_t undelivered = 0;
};

struct Queue {
  std::array<std::deque<Packet>, core::kBands> bands;
  bool busy = false;
  Packet current;
};

struct Job {
  int host = 0;
  int step = 0;
  int answers = 0;
  int firstFlow = 0;  // to its workers; the flows back follow
  int workers = 0;
  std::int64_t done = 0;
};

using Event = TensorLightsEvents::Event;
using EventKind = TensorLightsEvents::Kind;

// The hosts with their queues, the flows between them, and the jobs.
class Network {
 public:
  Network(const TensorLightsOptions& options, TensorLightsPolicy policy)
      : options_(options), bands_(options, policy), rng_(options.seed) {
    const auto hosts = static_cast<std::size_t>(options.hosts);
    out_.resize(hosts);
    in_.resize(hosts);
    for (std::size_t host = 0; host < options.placement.size(); ++host) {
      for (int i = 0; i < options.placement[host]; ++i) addJob(static_cast<int>(host));
    }
  }

  TensorLightsResult run() {
    order();
    for (std::size_t job = 0; job < jobs_.size(); ++job) beginStep(static_cast<int>(job));
    if (bands_.orders()) events_.after(options_.turnMicros * kNanosPerMicro, EventKind::kTurn, 0);
    while (!events_.empty() && running_ > 0) handle(events_.next());
    TensorLightsResult result;
    for (const Job& job : jobs_) result.seconds.push_back(static_cast<double>(job.done) / kNanosPerSecond);
    const double sum = std::accumulate(result.seconds.begin(), result.seconds.end(), 0.0);
    result.meanSeconds = sum / static_cast<double>(jobs_.size());
    result.makespanSeconds = *std::max_element(result.seconds.begin(), result.seconds.end());
    result.packets = packets_;
    return result;
  }

 private:
  void addJob(int host) {
    Job job{.host = host, .firstFlow = static_cast<int>(flows_.size()), .workers = options_.hosts - 1};
    const int number = static_cast<int>(jobs_.size());
    for (const bool toWorker : {true, false}) {
      for (int other = 0; other < options_.hosts; ++other) {
        if (other == host) continue;
        flows_.push_back({number, toWorker ? host : other, toWorker ? other : host, toWorker});
      }
    }
    jobs_.push_back(job);
    ++running_;
  }

  // The agents' part, on each host.
  void order() {
    if (!bands_.orders()) return;
    for (int host = 0; host < options_.hosts; ++host) {
      std::vector<int> here;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (jobs_[i].host == host && jobs_[i].done == 0) here.push_back(static_cast<int>(i));
      }
      bands_.order(here, events_.now());
    }
  }

  Flow& flow(int index) { return flows_[static_cast<std::size_t>(index)]; }
  Job& job(int index) { return jobs_[static_cast<std::size_t>(index)]; }

  void beginStep(int number) {
    const Job& each = job(number);
    for (int i = 0; i < each.workers; ++i) beginFlow(each.firstFlow + i);
  }

  void beginFlow(int index) {
    flow(index).unsent = flow(index).undelivered = options_.modelBytes;
    for (int i = 0; i < options_.window; ++i) sendNext(index);
  }

  void sendNext(int index) {
    Flow& each = flow(index);
    if (each.unsent == 0) return;
    const Packet packet{index, std::min(each.unsent, options_.packetBytes)};
    each.unsent -= packet.bytes;
    ++packets_;
    // Workers' answers are not ordered by any agent: they use the last band of the host's own servers.
    const auto band =
        static_cast<std::size_t>(each.toWorker ? bands_.bandOf(each.job) : bands_.lastBand(each.from));
    out_[static_cast<std::size_t>(each.from)].bands[band].push_back(packet);
    serve(out_[static_cast<std::size_t>(each.from)], EventKind::kLeft, each.from);
  }

  void serve(Queue& queue, EventKind kind, int host) {
    if (queue.busy) return;
    for (auto& band : queue.bands) {
      if (band.empty()) continue;
      queue.current = band.front();
      band.pop_front();
      queue.busy = true;
      events_.after(queue.current.bytes * 1'000 * 1'000'000 / options_.bytesPerSecond, kind, host);
      return;
    }
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kLeft: return left(event.which);
      case EventKind::kArrived: return arrived(event.which);
      case EventKind::kComputed: return beginFlow(event.which);
      case EventKind::kTurn:
        order();
        return events_.after(options_.turnMicros * kNanosPerMicro, EventKind::kTurn, 0);
    }
  }

  void left(int host) {
    Queue& queue = out_[static_cast<std::size_t>(host)];
    const int to = flow(queue.current.flow).to;
    Queue& there = in_[static_cast<std::size_t>(to)];
    there.bands[0].push_back(queue.current);
    queue.busy = false;
    serve(queue, EventKind::kLeft, host);
    serve(there, EventKind::kArrived, to);
  }

  void arrived(int host) {
    Queue& queue = in_[static_cast<std::size_t>(host)];
    const Packet packet = queue.current;
    queue.busy = false;
    serve(queue, EventKind::kArrived, host);
    Flow& each = flow(packet.flow);
    each.undelivered -= packet.bytes;
    sendNext(packet.flow);
    if (each.undelivered > 0) return;
    if (each.toWorker) return compute(packet.flow);
    answered(each.job);
  }

  void compute(int index) {
    const std::int64_t tenth = options_.computeMicros * kNanosPerMicro / 10;
    const std::int64_t time = options_.computeMicros * kNanosPerMicro + rng_.between(-tenth, tenth);
    events_.after(time, EventKind::kComputed, index + options_.hosts - 1);
  }

  void answered(int number) {
    Job& each = job(number);
    if (++each.answers < each.workers) return;
    each.answers = 0;
    if (++each.step < options_.steps) return beginStep(number);
    each.done = events_.now();
    --running_;
    order();
  }

  const TensorLightsOptions& options_;
  TensorLightsBands bands_;
  base::Rng rng_;
  std::vector<Job> jobs_;
  std::vector<Flow> flows_;
  std::vector<Queue> out_;
  std::vector<Queue> in_;
  TensorLightsEvents events_;
  std::int64_t packets_ = 0;
  int running_ = 0;
};

std::string gain(const TensorLightsResult& ordered, const TensorLightsResult& fifo) {
  return fmt::format("{:8.1f} ({:+5.1f} %)", ordered.meanSeconds,
                     100 * (1 - ordered.meanSeconds / fifo.meanSeconds));
}

}  // namespace

TensorLightsResult runTensorLights(const TensorLightsOptions& options, TensorLightsPolicy policy) {
  return Network(options, policy).run();
}

const std::vector<std::vector<int>>& tensorLightsPlacements() {
  static const std::vector<std::vector<int>> kPlacements{{21},
                                                         {5, 16},
                                                         {10, 11},
                                                         {7, 7, 7},
                                                         {5, 5, 5, 6},
                                                         {4, 4, 4, 4, 5},
                                                         std::vector<int>(7, 3),
                                                         std::vector<int>(21, 1)};
  return kPlacements;
}

std::string tensorLightsTable(const TensorLightsOptions& options,
                              const std::vector<std::vector<int>>& placements) {
  using enum TensorLightsPolicy;
  std::string table = fmt::format("{:<24}{:>8}{:>19}{:>19}{:>19}{:>14}\n", "servers on a host", "FIFO s",
                                  "One s", "RR s", "bursts s", "throughput %");
  for (const auto& placement : placements) {
    TensorLightsOptions each = options;
    each.placement = placement;
    const auto fifo = runTensorLights(each, kFifo);
    const auto ours = runTensorLights(each, kBursts);
    std::string name = fmt::format("{}", fmt::join(placement, ","));
    if (placement.size() > 5) name = fmt::format("{} x {}", placement.size(), placement.front());
    table +=
        fmt::format("{:<24}{:8.1f}{:>19}{:>19}{:>19}{:14.1f}\n", name, fifo.meanSeconds,
                    gain(runTensorLights(each, kOne), fifo), gain(runTensorLights(each, kRoundRobin), fifo),
                    gain(ours, fifo), 100 * fifo.makespanSeconds / ours.makespanSeconds);
  }
  return table;
}

}  // namespace trainyard::replay
