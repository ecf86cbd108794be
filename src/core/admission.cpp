#include "core/admission.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/names.h"

namespace trainyard::core {
namespace {

Admission refuse(model::PendingReason reason, std::string message) {
  return {.refusal = model::Pending{reason, std::move(message)}};
}

// A level that the cluster's topology does not have would silently never hold, or never be reached.
std::string unknownLevel(const model::Locality& locality, const std::vector<model::TopologyLevel>& topology) {
  const auto known = [&](const std::string& name) {
    return std::any_of(topology.begin(), topology.end(),
                       [&](const auto& level) { return level.name == name; });
  };
  std::string names;
  for (const model::TopologyLevel& level : topology) names += (names.empty() ? "" : ", ") + level.name;
  if (!locality.required.empty() && !known(locality.required)) {
    return fmt::format("spec.locality.required: \"{}\" is no level of this cluster; it has {}",
                       locality.required, names);
  }
  for (const model::LocalityLevel& level : locality.levels) {
    if (!known(level.level)) {
      return fmt::format("spec.locality.levels: \"{}\" is no level of this cluster; it has {}", level.level,
                         names);
    }
  }
  return {};
}

}  // namespace

Admission admit(const model::Job& job, const model::Snapshot& snapshot, const JobFeedback& feedback) {
  using enum model::PendingReason;
  if (!job.specError.empty()) {
    const bool inTemplate = job.specError.find(".template") != std::string::npos;
    return refuse(inTemplate ? kInvalidTemplate : kInvalidSpec, job.specError);
  }

  if (const std::string unknown = unknownLevel(job.spec.locality, snapshot.policy.topology); !unknown.empty()) {
    return refuse(kInvalidSpec, unknown);
  }

  const auto& queues = snapshot.queues;
  const bool queueExists =
      std::any_of(queues.begin(), queues.end(), [&](const auto& q) { return q->name == job.spec.queue; });
  // The default queue needs no object: a fresh cluster must be able to run a first job.
  if (!queueExists && job.spec.queue.str() != model::names::kDefaultQueue) {
    return refuse(kQueueNotFound, fmt::format("spec.queue: there is no Queue named \"{}\"", job.spec.queue));
  }

  const auto& classes = snapshot.priorityClasses;
  const std::string& wanted = job.spec.priorityClassName;
  const bool classExists =
      std::any_of(classes.begin(), classes.end(), [&](const auto& c) { return c->name == wanted; });
  if (!wanted.empty() && !classExists) {
    return refuse(kPriorityClassNotFound,
                  fmt::format("spec.priorityClassName: there is no PriorityClass named \"{}\"", wanted));
  }

  if (!feedback.templateError) return {.needsTemplateCheck = true};
  if (!feedback.templateError->empty()) return refuse(kInvalidTemplate, *feedback.templateError);
  return {};
}

}  // namespace trainyard::core
