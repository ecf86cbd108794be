#include "agent/link_keeper.h"

#include <algorithm>
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
constexpr milliseconds kLook{20};
constexpr int kLooks = 125;
constexpr seconds kBetweenWindows{60};
constexpr int kSlowest = 32;

std::vector<std::string> uidsOf(const NodeTraffic& traffic) {
  std::vector<std::string> uids;
  for (const NodeJob& job : traffic.jobs) uids.push_back(job.traffic.uid);
  return uids;
}

}  // namespace

LinkKeeper::LinkKeeper(Kernel& kernel, base::Executor& executor, const base::Logger& log,
                       AgentMetrics& metrics, LinkOptions options)
    : kernel_(kernel), executor_(executor), log_(log), metrics_(metrics), options_(std::move(options)) {}

LinkKeeper::~LinkKeeper() {
  executor_.cancel(timer_);
  executor_.cancel(lookTimer_);
}

void LinkKeeper::start() {
  lastShared_ = executor_.now();
  setRate(options_.settings.bytesPerSecond);
}

void LinkKeeper::setRate(std::uint64_t bytesPerSecond) {
  options_.settings.bytesPerSecond = bytesPerSecond;
  metrics_.rate.set(static_cast<double>(bytesPerSecond));
  metrics_.setMissing("LINK_RATE", bytesPerSecond == 0);
}

void LinkKeeper::setTraffic(NodeTraffic traffic) {
  traffic_ = std::move(traffic);
  meter_.keep(uidsOf(traffic_));
  metrics_.jobs.set(static_cast<double>(traffic_.jobs.size()));
  metrics_.pods.set(traffic_.pods);
  metrics_.unknown.set(static_cast<double>(traffic_.unknown.size()));
  schedule(executor_.now() + kGather);
}

void LinkKeeper::setMissing(const std::string& feature, const std::string& message) {
  missing_ = true;
  trouble_ = fmt::format("nothing is ordered without {}: {}", feature, message);
  metrics_.setMissing(feature, true);
  log_.warning("traffic is not ordered on this node", {{"missing", feature}, {"error", message}});
}

void LinkKeeper::schedule(base::Instant when) {
  if (stopped_ || (timer_ != base::TimerId{} && due_ <= when)) return;
  executor_.cancel(timer_);
  due_ = when;
  timer_ = executor_.postAt(when, [this] {
    timer_ = {};
    tick();
  });
}

std::vector<JobTraffic> LinkKeeper::jobsToOrder(const FoundLink& found) {
  const base::Instant now = executor_.now();
  // Nothing can be ordered without a rate. The empty result removes what an earlier agent configured.
  if (options_.settings.bytesPerSecond == 0) return {};
  if (traffic_.jobs.size() >= 2) lastShared_ = now;
  const bool lingers = found.root == RootOwner::kOurs && now - lastShared_ < kLinger;
  std::vector<JobTraffic> jobs;
  if (traffic_.jobs.size() < 2 && !lingers) return jobs;
  for (const NodeJob& job : traffic_.jobs) jobs.push_back(job.traffic);
  return jobs;
}

const core::BandPlan& LinkKeeper::bandsFor(const std::vector<JobTraffic>& jobs) {
  // The time is rounded to whole turns, so that the question stays equal, and its answer valid, for a turn.
  const base::WallTime now = executor_.wallNow();
  core::BandQuestion question{.policy = options_.policy,
                              .bytesPerSecond = static_cast<std::int64_t>(options_.settings.bytesPerSecond),
                              .now = now - now.time_since_epoch() % options_.turn,
                              .turn = options_.turn,
                              .lastOrder = bands_.order};
  for (const NodeJob& job : traffic_.jobs) {
    if (jobs.empty()) break;
    core::RankedJob ranked = job.rank;
    ranked.burst = meter_.burstOf(ranked.uid);
    question.jobs.push_back(std::move(ranked));
  }
  if (question != question_) {
    bands_ = core::planBands(question);
    question.lastOrder = bands_.order;
    question_ = std::move(question);
  }
  return bands_;
}

void LinkKeeper::tick() {
  if (stopped_ || missing_) return;
  const base::Instant now = executor_.now();
  const auto found = kernel_.read(options_.device);
  if (!found) {
    note(found.error());
    return schedule(now + kBetween);
  }
  const auto jobs = jobsToOrder(*found);
  const core::BandPlan& bands = bandsFor(jobs);
  const WantedLink wanted = wantedLink(jobs, bands, *found, options_.settings);
  const auto minors = classesFor(jobs, *found);
  jobOf_.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i) jobOf_.emplace(minors[i], jobs[i].uid);
  const TcChanges changes = planChanges(wanted, *found);
  metrics_.foreign.set(changes.foreign && !jobs.empty() ? 1 : 0);
  if (changes.foreign && !jobs.empty()) {
    trouble_ = fmt::format("{} has a qdisc {} that is not the agent's", options_.device, found->rootKind);
    report(bands, false);
    return schedule(now + kBetween);
  }
  Ordered ordered{jobs, bands};
  if (last_ == ordered && !changes.changes.empty() && !jobs.empty()) {
    metrics_.repairs.increment();
    log_.info("changes by other programs are reverted", {{"device", options_.device}});
  }
  const bool good = apply(changes);
  if (missing_) return;
  last_ = good && !changes.waiting ? std::optional(std::move(ordered)) : std::nullopt;
  if (good) trouble_.clear();
  report(bands, good && !jobs.empty());
  if (!jobs.empty() && !measuring_) scheduleLook(milliseconds(0));
  schedule(now + (changes.waiting || !good ? base::Instant::duration(kDraining)
                                           : base::Instant::duration(kBetween)));
  const bool turns =
      options_.policy == core::BandPolicy::kRoundRobin || bands.discipline == core::Discipline::kRotate;
  if (turns && jobs.size() > 1) {
    const auto sinceTurn = executor_.wallNow().time_since_epoch() % options_.turn;
    schedule(now + std::chrono::duration_cast<base::Instant::duration>(options_.turn - sinceTurn) +
             milliseconds(1));
  }
}

bool LinkKeeper::apply(const TcChanges& changes) {
  bool good = true;
  for (const TcChange& each : changes.changes) {
    const auto made = kernel_.apply(options_.device, each);
    if (made) {
      metrics_.changes.increment();
      log_.debug("kernel changed", {{"device", options_.device}, {"change", describe(each)}});
      continue;
    }
    good = false;
    note(made.error());
    if (made.error().code != base::ErrorCode::kUnsupported) continue;
    setMissing(made.error().reason, made.error().message);
    takeDown(true);
    return false;
  }
  return good;
}

void LinkKeeper::note(const base::Error& error) {
  metrics_.errors.increment();
  // Each error is logged once: the change is repeated every few seconds.
  if (trouble_ != error.message)
    log_.warning("the kernel refused", {{"device", options_.device}, {"error", error.message}});
  trouble_ = error.message;
}

void LinkKeeper::report(const core::BandPlan& bands, bool ordering) {
  metrics_.ordering.set(ordering ? 1 : 0);
  const auto is = [&](core::Discipline each) { return ordering && bands.discipline == each ? 1.0 : 0.0; };
  metrics_.strict.set(is(core::Discipline::kStrict));
  metrics_.rotate.set(is(core::Discipline::kRotate));
  metrics_.guaranteed.set(is(core::Discipline::kGuaranteed));
}

void LinkKeeper::scheduleLook(base::Instant::duration delay) {
  if (options_.policy != core::BandPolicy::kBursts || stopped_) return;
  measuring_ = true;
  lookTimer_ = executor_.postAfter(delay, [this] { look(); });
}

void LinkKeeper::look() {
  const auto found = kernel_.readClasses(options_.device);
  if (!found || found->empty() || traffic_.jobs.size() < 2) {
    measuring_ = false;
    looks_ = 0;
    return;
  }
  if (looks_ == 0) meter_.begin();
  std::vector<BurstMeter::Look> seen;
  for (const FoundClass& each : *found) {
    const auto job = jobOf_.find(each.shape.minor);
    if (job != jobOf_.end()) seen.push_back({job->second, each.sentBytes, each.waitingPackets > 0});
  }
  meter_.look(executor_.now(), seen);
  if (++looks_ < kLooks) return scheduleLook(kLook * slowness_);
  looks_ = 0;
  slowness_ = meter_.end() ? slowness_ : std::min(slowness_ * 2, kSlowest);
  schedule(executor_.now());
  scheduleLook(kBetweenWindows);
}

bool LinkKeeper::takeDown(bool force) {
  stopped_ = true;
  executor_.cancel(timer_);
  executor_.cancel(lookTimer_);
  const auto found = kernel_.read(options_.device);
  if (!found) {
    note(found.error());
    return force;
  }
  if (found->root != RootOwner::kOurs) return true;
  TcChanges changes = planChanges({}, *found);
  if (changes.waiting && force) changes.changes.emplace_back(RemoveQdisc{});
  const bool last = !changes.waiting || force;
  for (const TcChange& each : changes.changes) {
    const auto made = kernel_.apply(options_.device, each);
    if (!made) note(made.error());
  }
  return last;
}

}  // namespace trainyard::agent
