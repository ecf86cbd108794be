#include "replay/engine/job_factory.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/names.h"
#include "replay/engine/world.h"

namespace trainyard::replay {

JobFactory::JobFactory(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplaySetup& setup)
    : trace_(trace), setup_(setup), largest_(gpusOfLargest(cluster)), ranges_(trace.jobs.size()) {
  for (std::size_t i = 0; setup.elastic && i < ranges_.size(); ++i) ranges_[i] = setup.elastic->range(i);
}

model::Job JobFactory::make(std::size_t index) const {
  const TraceJob& facts = trace_.jobs[index];
  const auto& range = ranges_[index];
  const GangShape shape = shapeOf(index);
  const bool one = hasOneQueue(trace_, setup_);
  model::Job job;
  job.key = {"replay", fmt::format("{}-{:09}", trace_.queues[facts.queue], index)};
  job.uid = model::Uid(job.key.name);
  job.created = calendar(facts.submitted);
  job.spec.queue = model::QueueName(one ? kOnlyQueue : trace_.queues[facts.queue]);
  job.spec.preemptible = true;
  job.spec.checkpoint = checkpointOf(index);
  if (setup_.knowsDurations) {
    const TraceWork& work = trace_.work[index];
    job.spec.estimatedDuration = std::chrono::ceil<std::chrono::seconds>(work.startup + work.duration);
  }
  model::Role role{.name = "worker", .replicas = shape.members, .shape = {}, .templateJson = {}};
  if (range) {
    role.shape.requests = range->member;
    job.spec.elastic = model::Elastic{.role = "worker",
                                      .replicas = range->desired,
                                      .minReplicas = range->minimum,
                                      .maxReplicas = range->most};
  }
  role.shape.requests.pods = 1;
  if (!range) role.shape.requests.setExtended(model::names::kGpuResource, shape.gpusEach);
  const model::Resources& each = role.shape.requests;
  job.spec.templateHash =
      fmt::format("{}x{}-{}-{}", shape.members, each.gpus(), each.cpu.value, each.memory.value);
  job.spec.roles.push_back(std::move(role));
  if (relaxes(index)) job.spec.locality.levels = {{"node"}};
  job.status.gpus = facts.gpus;
  return job;
}

// Jobs are named by queue and number, so that jobs of a queue are one kind for learning.
std::size_t JobFactory::indexOf(const model::Job& job) {
  return static_cast<std::size_t>(std::stoul(job.key.name.substr(job.key.name.rfind('-') + 1)));
}

// Returns true if the job prefers one node, and relaxes that in the end.
bool JobFactory::relaxes(std::size_t job) const {
  const int gpus = trace_.jobs[job].gpus;
  return setup_.relaxes && gpus > 1 && gpus <= largest_;
}

GangShape JobFactory::shapeOf(std::size_t job) const {
  const auto& range = ranges_[job];
  if (range) return {range->desired, static_cast<int>(range->member.gpus())};
  const int gpus = trace_.jobs[job].gpus;
  return relaxes(job) ? GangShape{gpus, 1} : tightShape(gpus, largest_);
}

ReplayTime JobFactory::restartOf(std::size_t job) const {
  return setup_.checkpoint.restart ? ReplayTime(*setup_.checkpoint.restart) : trace_.work[job].resume;
}

std::optional<model::Checkpoint> JobFactory::checkpointOf(std::size_t job) const {
  if (ranges_[job]) {
    return model::Checkpoint{.mode = model::CheckpointMode::kSignal,
                             .restart = std::chrono::ceil<std::chrono::seconds>(restartOf(job))};
  }
  if (!setup_.checkpoint.declares(job)) return std::nullopt;
  return model::Checkpoint{
      .mode = setup_.checkpoint.every ? model::CheckpointMode::kNone : model::CheckpointMode::kSignal,
      .every = setup_.checkpoint.every,
      .restart = std::chrono::ceil<std::chrono::seconds>(restartOf(job))};
}

}  // namespace trainyard::replay
