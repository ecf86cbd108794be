#include "replay/run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "model/names.h"
#include "replay/engine/cluster.h"
#include "replay/engine/engine.h"
#include "replay/engine/partitions.h"
#include "replay/papers/muri.h"
#include "replay/papers/openb.h"
#include "replay/papers/pollux_tiresias.h"
#include "replay/traces/dorm_trace.h"
#include "replay/traces/muri_trace.h"
#include "replay/traces/pollux_trace.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::vector<ReplayNode>> readCluster(const ReplayOptions& options, const ReplayOutside& outside) {
  auto shape = parseClusterShape(options.cluster);
  // A text that begins with a digit is a shape, not a file name.
  if (shape || (!options.cluster.empty() && options.cluster.front() >= '0' && options.cluster.front() <= '9'))
    return shape;
  auto text = outside.readFile(options.cluster);
  if (!text) return fail(text.error());
  return readClusterFile(options.cluster, std::move(*text));
}

// Tiresias' two limits, as in Muri's simulator.
constexpr std::array<std::int64_t, 2> kTiresiasLimits{3'250, 7'200};

model::Policy policyOf(const ReplayOptions& options) {
  model::Policy policy = options.base;
  if (!options.policy) return policy;
  policy.ordering = options.policy->ordering;
  if (options.policy->tiresias) policy.lasLimits.assign(kTiresiasLimits.begin(), kTiresiasLimits.end());
  if (policy.ordering == model::Ordering::kFifo) {
    policy.backfill.enabled = false;
    policy.timeSlicing.enabled = false;
    policy.defragmentation.enabled = false;
  }
  return policy;
}

bool knowsDurations(const ReplayOptions& options) {
  return options.withDurations || model::traitsOf(policyOf(options).ordering).byEstimate;
}

ReplaySetup setupOf(const ReplayOptions& options) {
  ReplaySetup setup{.policy = policyOf(options),
                    .knowsDurations = knowsDurations(options),
                    .oneQueue = options.oneQueue,
                    .checkpoint = options.checkpoint};
  // In strict FIFO, jobs never relax: first come, first served, as close together as requested.
  const bool production = options.format == ReplayFormat::kPhilly || options.format == ReplayFormat::kItp;
  setup.relaxes = production && options.relaxation && setup.policy.backfill.enabled;
  return setup;
}

void addNotes(const ReplayOptions& options, ReplayResult& result) {
  if (options.format == ReplayFormat::kOpenb) return;
  auto& notes = result.notes;
  if (options.semantics == ReplaySemantics::kMuri) {
    notes.emplace_back(
        "Muri's rules: start-up is charged again at every event, as in its published numbers.");
  } else {
    notes.emplace_back("Start-up is charged on a start, a resume and a move only.");
  }
  if (options.elastic || options.elasticPermille > 0 ||
      (options.format == ReplayFormat::kDorm && options.sizes.empty()))
    notes.emplace_back(options.reports ? "Jobs were elastic, and reported how fast they were."
                                       : "Jobs were elastic, and reported nothing.");
  if (options.adaptiveBatch) notes.emplace_back("Jobs chose their batch sizes for the GPUs that they had.");
  notes.emplace_back(knowsDurations(options) ? "The policy knew how long jobs run."
                                             : "The policy did not know how long jobs run.");
}

Result<ReplayResult> replayMuri(const ReplayOptions& options, const ReplayOutside& outside) {
  auto text = outside.readFile(options.jobsFile);
  if (!text) return fail(text.error());
  const auto trace = readMuriJobs(options.jobsFile, std::move(*text));
  if (!trace) return fail(trace.error());
  const auto cluster = readCluster(options, outside);
  if (!cluster) return fail(cluster.error());
  if (options.semantics == ReplaySemantics::kMuri)
    return runMuri(*trace, *cluster, options.policy.value_or(ReplayPolicy{}), outside.progress);
  return runEngine(trace->trace, *cluster, setupOf(options), {.progress = outside.progress});
}

model::Resources someGpus(int count) {
  model::Resources member;
  member.setExtended(model::names::kGpuResource, count);
  return member;
}

// From half to twice the requested GPUs, in members of the shape for the requested size (engine/cluster.h),
// so that a growing job has no more freedom of placement than others.
ReplayElastic elasticShare(const Trace& trace, const std::vector<ReplayNode>& cluster,
                           const ReplayOptions& options) {
  const int largest = gpusOfLargest(cluster);
  const bool relaxes = setupOf(options).relaxes;
  const auto shapeOf = [&trace, largest, relaxes](std::size_t job) {
    const int gpus = trace.jobs[job].gpus;
    return relaxes && gpus <= largest ? GangShape{gpus, 1} : tightShape(gpus, largest);
  };
  return {.range = [shapeOf, permille = options.elasticPermille](
                       std::size_t job) -> std::optional<ReplayElastic::Range> {
            if (!isOneOf(job, permille)) return std::nullopt;
            const GangShape shape = shapeOf(job);
            return ReplayElastic::Range{.minimum = (shape.members + 1) / 2,
                                        .desired = shape.members,
                                        .most = 2 * shape.members,
                                        .member = someGpus(shape.gpusEach)};
          },
          .speed =
              [shapeOf, scaling = options.scaling](std::size_t job, const std::vector<int>& members) {
                const int all = std::accumulate(members.begin(), members.end(), 0);
                return scaledSpeed(all, shapeOf(job).members, scaling);
              },
          .reports = options.reports};
}

Result<ReplayResult> replayJobs(const ReplayOptions& options, const ReplayOutside& outside) {
  auto text = outside.readFile(options.jobsFile);
  if (!text) return fail(text.error());
  const auto trace = options.format == ReplayFormat::kPhilly
                         ? readPhillyJobs(options.jobsFile, std::move(*text))
                         : readItpJobs(options.jobsFile, std::move(*text));
  if (!trace) return fail(trace.error());
  const auto cluster = readCluster(options, outside);
  if (!cluster) return fail(cluster.error());
  ReplaySetup setup = setupOf(options);
  if (options.elasticPermille > 0) setup.elastic = elasticShare(*trace, *cluster, options);
  return runEngine(*trace, *cluster, setup, {.progress = outside.progress});
}

// From one GPU to four times the requested number; jobs of one GPU keep it, as in the artifact. A job that
// does not report its speed does not grow beyond its request, which is tuned, because the benefit could not
// be measured. The speed of a job is a mean over all of its training.
ReplayElastic elasticPollux(const PolluxTrace& trace, int perNode, std::int64_t gpus,
                            const ReplayOptions& options) {
  constexpr int kMaxTimes = 4;
  const int times = options.reports ? kMaxTimes : 1;
  const auto close = [perNode](int asked) {
    PolluxPlacement placement(static_cast<std::size_t>(asked / perNode), perNode);
    if (asked % perNode != 0) placement.push_back(asked % perNode);
    return placement;
  };
  return {.range =
              [&trace, gpus, times](std::size_t job) {
                const int asked = trace.trace.jobs[job].gpus;
                const std::int64_t most = std::min(times * std::int64_t{asked}, gpus);
                return std::optional(ReplayElastic::Range{
                    .minimum = 1,
                    .desired = asked,
                    .most = asked == 1 ? 1 : static_cast<int>(std::max<std::int64_t>(most, asked)),
                    .member = someGpus(1)});
              },
          .speed =
              [&trace, close, adapts = options.adaptiveBatch](std::size_t job,
                                                              const std::vector<int>& gpusByNode) {
                const PolluxJob& facts = trace.jobs[job];
                return facts.application->runSeconds(close(trace.trace.jobs[job].gpus), facts.batch, false) /
                       facts.application->runSeconds(gpusByNode, facts.batch, adapts);
              },
          .reports = options.reports};
}

Result<ReplayResult> replayPollux(const ReplayOptions& options, const ReplayOutside& outside) {
  const auto cluster = readCluster(options, outside);
  if (!cluster) return fail(cluster.error());
  int perNode = 0;
  std::int64_t gpus = 0;
  for (const ReplayNode& node : *cluster) {
    perNode = std::max(perNode, node.gpus);
    gpus += node.gpus;
  }
  const auto trace = readPolluxJobs(options.jobsFile, perNode, outside.readFile);
  if (!trace) return fail(trace.error());
  if (options.policy != kTiresias) {
    ReplaySetup setup = setupOf(options);
    if (options.elastic) setup.elastic = elasticPollux(*trace, perNode, gpus, options);
    return runEngine(trace->trace, *cluster, setup, {.progress = outside.progress});
  }
  for (const TraceJob& job : trace->trace.jobs) {
    if (job.gpus > gpus)
      return fail(ErrorCode::kInvalid,
                  fmt::format("job {} wants {} GPUs: the cluster has {}", job.name, job.gpus, gpus));
  }
  return runPolluxTiresias(*trace, *cluster, outside.progress);
}

ReplayElastic::Range rangeOf(const DormApplication& application) {
  return {.minimum = application.minimum,
          .desired = application.desired,
          .most = application.most,
          .member = application.container};
}

Result<ReplayResult> replayDorm(const ReplayOptions& options, const ReplayOutside& outside) {
  const auto cluster = readCluster(options, outside);
  if (!cluster) return fail(cluster.error());
  // The bounds that users would allow, and the sizes of this replay.
  const auto allowed = readDormJobs(options.jobsFile, {}, outside.readFile);
  if (!allowed) return fail(allowed.error());
  const auto trace = readDormJobs(options.jobsFile, options.sizes, outside.readFile);
  if (!trace) return fail(trace.error());
  ReplaySetup setup = setupOf(options);
  setup.elastic = ReplayElastic{
      .range =
          [&](std::size_t job) { return std::optional(rangeOf(trace->applications[trace->kinds[job]])); },
      .speed =
          [&](std::size_t job, const std::vector<int>& members) {
            const DormApplication& application = trace->applications[trace->kinds[job]];
            const int all = std::accumulate(members.begin(), members.end(), 0);
            return scaledSpeed(all, application.desired, application.scaling);
          },
      .reports = options.reports};
  std::vector<ReplayHolding> holdings;
  auto result = runEngine(
      trace->trace, *cluster, setup,
      {.progress = outside.progress, .held = [&](const ReplayHolding& each) { holdings.push_back(each); }});
  if (!result) return result;
  result->partitions = partitionsOf(
      allowed->trace, *cluster,
      [&](std::size_t job) { return rangeOf(allowed->applications[allowed->kinds[job]]); }, holdings);
  return result;
}

}  // namespace

Result<void> checkReplay(const ReplayOptions& options) {
  const auto refuse = [](std::string what) { return fail(ErrorCode::kInvalid, std::move(what)); };
  const bool openb = options.format == ReplayFormat::kOpenb;
  if (options.semantics == ReplaySemantics::kMuri && options.format != ReplayFormat::kMuri)
    return refuse("--semantics muri holds for --format muri only: other traces have no iterations");
  if (options.placement != ReplayPlacement::kDefault && !openb)
    return refuse("--placement holds for --format openb only: elsewhere gangs are placed, not single pods");
  if (options.policy && openb)
    return refuse("--policy means nothing for --format openb: its pods are offered in turn");
  if (options.seeds == 0) return refuse("--seeds must be at least 1");
  if (options.seeds != 1 && !openb)
    return refuse("--seeds holds for --format openb only: elsewhere nothing is drawn");
  const bool production = options.format == ReplayFormat::kPhilly || options.format == ReplayFormat::kItp;
  if (!options.relaxation && (!production || options.policy == ReplayPolicy{model::Ordering::kFifo}))
    return refuse("--no-relaxation holds for --format philly and itp only, and fifo never relaxes");
  if (options.oneQueue && options.format != ReplayFormat::kPhilly)
    return refuse("--one-queue holds for --format philly only: the other traces have no queues");
  if (options.elastic && (options.format != ReplayFormat::kPollux || options.policy == kTiresias))
    return refuse(
        "--elastic holds for --format pollux and our own decisions only: no other trace has speeds (philly, "
        "itp: --elastic-share)");
  if (options.adaptiveBatch && (!options.elastic || !options.reports))
    return refuse("--adaptive-batch means nothing without --elastic, nor for jobs that report nothing");
  if (options.elasticPermille > 0 && !production)
    return refuse("--elastic-share holds for --format philly and itp only");
  const bool dorm = options.format == ReplayFormat::kDorm;
  if (!options.sizes.empty() && !dorm)
    return refuse("--sizes holds for --format dorm only: no other trace has kinds of applications");
  const bool elastic = options.elastic || options.elasticPermille > 0 || (dorm && options.sizes.empty());
  if (!options.reports && !elastic) return refuse("--no-reports means nothing without elastic jobs");
  const bool papers = options.semantics == ReplaySemantics::kMuri ||
                      (options.format == ReplayFormat::kPollux && options.policy == kTiresias);
  if (options.checkpoint.permille > 0 && (openb || papers))
    return refuse("--checkpoint holds for the operator's own decisions only: rules of papers lose no work");
  if (options.base != model::Policy{} && (openb || papers))
    return refuse("--policy-file holds for the operator's own decisions only, not for rules of papers");
  if (options.semantics == ReplaySemantics::kMuri && !knownToMuri(options.policy.value_or(ReplayPolicy{})))
    return refuse("--semantics muri knows --policy srtf, srsf and tiresias only");
  if (options.withDurations && openb)
    return refuse("--with-durations means nothing for --format openb: its pods never end");
  if (options.withDurations && options.policy && options.policy->ordering == model::Ordering::kLas)
    return refuse(
        "--with-durations means nothing for --policy las and tiresias: they order by attained service");
  return {};
}

Result<ReplayResult> runReplay(const ReplayOptions& options, const ReplayOutside& outside) {
  if (auto good = checkReplay(options); !good) return fail(good.error());
  auto result = [&]() -> Result<ReplayResult> {
    switch (options.format) {
      case ReplayFormat::kMuri: return replayMuri(options, outside);
      case ReplayFormat::kPhilly:
      case ReplayFormat::kItp: return replayJobs(options, outside);
      case ReplayFormat::kOpenb: return runOpenb(options, outside);
      case ReplayFormat::kPollux: return replayPollux(options, outside);
      case ReplayFormat::kDorm: return replayDorm(options, outside);
    }
    return fail(ErrorCode::kInternal, "no such format");
  }();
  if (result) addNotes(options, *result);
  return result;
}

}  // namespace trainyard::replay
