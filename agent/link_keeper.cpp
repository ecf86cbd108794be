#include "agent/link_keeper.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace trainyard::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kBetween{5};
constexpr milliseconds kGather{50};
constexpr milliseconds kDraining{500};
// A job that returns soon finds the qdisc in place: adding or removing a qdisc loses packets.
constexpr seconds kLinger{30};

std::vector<std::string> uidsOf(const NodeTraffic& traffic) {
  std::vector<std::string> uids;
  for (const NodeJob& job : traffic.jobs) uids.push_back(job.traffic.uid);
  return uids;
}

std::map<std::uint16_t, std::string> jobsByClass(const std::vector<JobTraffic>& jobs,
                                                 const FoundLink& found) {
  const auto minors = classesFor(jobs, found);
  std::map<std::uint16_t, std::string> jobOf;
  for (std::size_t i = 0; i < jobs.size(); ++i) jobOf.emplace(minors[i], jobs[i].uid);
  return jobOf;
}

}  // namespace

LinkKeeper::LinkKeeper(Kernel& kernel, base::Executor& executor, const base::Logger& log,
                       AgentMetrics& metrics, const LinkOptions& options)
    : executor_(executor),
      log_(log),
      metrics_(metrics),
      settings_(options.settings),
      device_(kernel, options.device, log, metrics),
      planner_(options.policy, options.turn),
      timer_(executor, [this] { tick(); }),
      bursts_(device_, executor, [this] { timer_.askFor(executor_.now()); }) {
  // No other policy asks for bursts.
  if (options.policy != core::BandPolicy::kBursts) bursts_.stop();
}

void LinkKeeper::start() {
  lastShared_ = executor_.now();
  setRate(settings_.bytesPerSecond);
}

void LinkKeeper::setRate(std::uint64_t bytesPerSecond) {
  settings_.bytesPerSecond = bytesPerSecond;
  metrics_.rate.set(static_cast<double>(bytesPerSecond));
  metrics_.setMissing("LINK_RATE", bytesPerSecond == 0);
}

void LinkKeeper::setTraffic(NodeTraffic traffic) {
  traffic_ = std::move(traffic);
  bursts_.setJobs(uidsOf(traffic_));
  metrics_.jobs.set(static_cast<double>(traffic_.jobs.size()));
  metrics_.pods.set(traffic_.pods);
  metrics_.unknown.set(static_cast<double>(traffic_.unknown.size()));
  timer_.askFor(executor_.now() + kGather);
}

void LinkKeeper::setMissing(const std::string& feature, const std::string& message) {
  timer_.stop();
  device_.setTrouble(fmt::format("nothing is ordered without {}: {}", feature, message));
  metrics_.setMissing(feature, true);
  log_.warning("traffic is not ordered on this node", {{"missing", feature}, {"error", message}});
}

std::vector<JobTraffic> LinkKeeper::jobsToOrder(const FoundLink& found) {
  const base::Instant now = executor_.now();
  // Nothing can be ordered without a rate. The empty result removes what an earlier agent configured.
  if (settings_.bytesPerSecond == 0) return {};
  if (traffic_.jobs.size() >= 2) lastShared_ = now;
  const bool lingers = found.root == RootOwner::kOurs && now - lastShared_ < kLinger;
  std::vector<JobTraffic> jobs;
  if (traffic_.jobs.size() < 2 && !lingers) return jobs;
  for (const NodeJob& job : traffic_.jobs) jobs.push_back(job.traffic);
  return jobs;
}

const core::BandPlan& LinkKeeper::bandsFor(const std::vector<JobTraffic>& jobs) {
  std::vector<core::RankedJob> ranked;
  for (const NodeJob& job : traffic_.jobs) {
    if (jobs.empty()) break;
    ranked.push_back(job.rank);
    ranked.back().burst = bursts_.burstOf(job.rank.uid);
  }
  return planner_.plan(std::move(ranked), settings_.bytesPerSecond, executor_.wallNow());
}

void LinkKeeper::tick() {
  const base::Instant now = executor_.now();
  const auto found = device_.read();
  if (!found) return timer_.askFor(now + kBetween);
  const auto jobs = jobsToOrder(*found);
  const core::BandPlan& bands = bandsFor(jobs);
  const TcChanges changes = planChanges(wantedLink(jobs, bands, *found, settings_), *found);
  bursts_.setClasses(jobsByClass(jobs, *found));
  const bool foreign = changes.foreign && !jobs.empty();
  metrics_.foreign.set(foreign ? 1 : 0);
  if (foreign) {
    device_.setTrouble(
        fmt::format("{} has a qdisc {} that is not the agent's", device_.name(), found->rootKind));
    report(bands, false);
    return timer_.askFor(now + kBetween);
  }
  apply(changes, {jobs, bands}, now);
}

void LinkKeeper::apply(const TcChanges& changes, Ordered ordered, base::Instant now) {
  const std::size_t jobs = ordered.jobs.size();
  if (last_ == ordered && !changes.changes.empty() && jobs > 0) {
    metrics_.repairs.increment();
    log_.info("changes by other programs are reverted", {{"device", device_.name()}});
  }
  const LinkDevice::Applied applied = device_.apply(changes);
  if (applied.missing) {
    setMissing(applied.missing->reason, applied.missing->message);
    takeDown(true);
    return;
  }
  if (applied.good) device_.setTrouble("");
  report(ordered.bands, applied.good && jobs > 0);
  last_ = applied.good && !changes.waiting ? std::optional(std::move(ordered)) : std::nullopt;
  if (jobs > 0) bursts_.begin();
  timer_.askFor(now + (changes.waiting || !applied.good ? base::Instant::duration(kDraining)
                                                        : base::Instant::duration(kBetween)));
  if (jobs < 2) return;
  if (const auto turn = planner_.untilNextTurn(executor_.wallNow())) timer_.askFor(now + *turn);
}

void LinkKeeper::report(const core::BandPlan& bands, bool ordering) {
  metrics_.ordering.set(ordering ? 1 : 0);
  metrics_.discipline.set(ordering ? std::optional(bands.discipline) : std::nullopt);
}

bool LinkKeeper::takeDown(bool force) {
  timer_.stop();
  bursts_.stop();
  return device_.removeQdisc(force);
}

}  // namespace trainyard::agent
