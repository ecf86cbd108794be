#include "replay/papers/tensorlights.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <numeric>
#include <queue>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rng.h"

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

enum class EventKind { kLeft, kArrived, kComputed, kTurn };

struct Event {
  std::int64_t at = 0;
  std::int64_t order = 0;  // of equal times the first created one is first
  EventKind kind = EventKind::kLeft;
  int which = 0;  // the host or the flow
  friend bool operator>(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};

class Network {
 public:
  Network(const TensorLightsOptions& options, TensorLightsPolicy policy)
      : options_(options), policy_(policy), rng_(options.seed) {
    const auto hosts = static_cast<std::size_t>(options.hosts);
    out_.resize(hosts);
    in_.resize(hosts);
    for (std::size_t host = 0; host < options.placement.size(); ++host) {
      for (int i = 0; i < options.placement[host]; ++i) addJob(static_cast<int>(host));
    }
    bandOf_.assign(jobs_.size(), 0);
  }

  TensorLightsResult run() {
    order();
    for (std::size_t job = 0; job < jobs_.size(); ++job) beginStep(static_cast<int>(job));
    if (policy_ != TensorLightsPolicy::kFifo) at(options_.turnMicros * kNanosPerMicro, EventKind::kTurn, 0);
    while (!events_.empty() && running_ > 0) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      handle(event);
    }
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

  // The agents' part, on each host with servers of two jobs or more, by the rules of the agent itself.
  void order() {
    if (policy_ == TensorLightsPolicy::kFifo) return;
    for (int host = 0; host < options_.hosts; ++host) {
      core::BandQuestion question{
          .policy = policy_ == TensorLightsPolicy::kOne          ? core::BandPolicy::kOne
                    : policy_ == TensorLightsPolicy::kRoundRobin ? core::BandPolicy::kRoundRobin
                                                                 : core::BandPolicy::kBursts,
          .bytesPerSecond = options_.bytesPerSecond,
          .now = base::WallTime(std::chrono::microseconds(now_ / kNanosPerMicro)),
          .turn = std::chrono::seconds(std::max<std::int64_t>(1, options_.turnMicros / 1'000'000))};
      std::vector<int> here;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (jobs_[i].host == host && jobs_[i].done == 0) here.push_back(static_cast<int>(i));
      }
      for (const int job : here) question.jobs.push_back(ranked(job));
      for (const core::JobBand& each : core::planBands(question).bands)
        bandOf_[static_cast<std::size_t>(std::stoi(each.uid))] = here.size() < 2 ? 0 : each.band;
    }
  }

  [[nodiscard]] core::RankedJob ranked(int job) const {
    const std::int64_t burst = options_.modelBytes * jobs_[static_cast<std::size_t>(job)].workers;
    // A gap consists of the workers' computation and the transfer of their answers.
    const std::int64_t back = burst * 1'000'000 / options_.bytesPerSecond;
    return {.uid = fmt::format("{:06}", job),
            .since = base::WallTime(std::chrono::seconds(job)),
            .burst = core::BurstProfile{burst, std::chrono::microseconds(options_.computeMicros + back)}};
  }

  void at(std::int64_t when, EventKind kind, int which) { events_.push({when, ++made_, kind, which}); }
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
    const auto band = static_cast<std::size_t>(each.toWorker ? bandOf_[static_cast<std::size_t>(each.job)]
                                                             : lastBand(each.from));
    out_[static_cast<std::size_t>(each.from)].bands[band].push_back(packet);
    serve(out_[static_cast<std::size_t>(each.from)], EventKind::kLeft, each.from);
  }

  [[nodiscard]] int lastBand(int host) const {
    const bool orders = policy_ != TensorLightsPolicy::kFifo &&
                        host < static_cast<int>(options_.placement.size()) &&
                        options_.placement[static_cast<std::size_t>(host)] > 1;
    return orders ? core::kBands - 1 : 0;
  }

  void serve(Queue& queue, EventKind kind, int host) {
    if (queue.busy) return;
    for (auto& band : queue.bands) {
      if (band.empty()) continue;
      queue.current = band.front();
      band.pop_front();
      queue.busy = true;
      at(now_ + queue.current.bytes * 1'000 * 1'000'000 / options_.bytesPerSecond, kind, host);
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
        return at(now_ + options_.turnMicros * kNanosPerMicro, EventKind::kTurn, 0);
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
    at(now_ + time, EventKind::kComputed, index + options_.hosts - 1);
  }

  void answered(int number) {
    Job& each = job(number);
    if (++each.answers < each.workers) return;
    each.answers = 0;
    if (++each.step < options_.steps) return beginStep(number);
    each.done = now_;
    --running_;
    order();
  }

  const TensorLightsOptions& options_;
  TensorLightsPolicy policy_;
  base::Rng rng_;
  std::vector<Job> jobs_;
  std::vector<Flow> flows_;
  std::vector<Queue> out_;
  std::vector<Queue> in_;
  std::vector<int> bandOf_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t now_ = 0;
  std::int64_t made_ = 0;
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
