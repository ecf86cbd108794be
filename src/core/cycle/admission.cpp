#include "core/cycle/admission.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/queues/namespaces.h"

namespace trainyard::core {
namespace {

constexpr std::string_view kOurselves = "trainyard.dev/operator";

Admission refuse(model::PendingReason reason, std::string message) {
  return {.refusal = model::Pending{reason, std::move(message)}};
}

// A level that the cluster's topology does not have would silently never hold, or never be reached.
std::string unknownLevel(const model::Locality& locality, const std::vector<model::TopologyLevel>& topology) {
  std::vector<std::string> names;
  for (const model::TopologyLevel& level : topology) names.push_back(level.name);
  const auto known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!locality.required.empty() && !known(locality.required))
    return model::noSuchLevel("spec.locality.required", locality.required, names);
  for (const model::LocalityLevel& level : locality.levels) {
    if (!known(level.level)) return model::noSuchLevel("spec.locality.levels", level.level, names);
  }
  return {};
}

std::optional<model::Pending> refuseQueue(const model::Job& job, const model::Snapshot& snapshot,
                                          const QueueTree& queues) {
  using enum model::PendingReason;
  const auto index = queues.find(job.spec.queue);
  if (!index) {
    return model::Pending{kQueueNotFound,
                          fmt::format("spec.queue: there is no Queue named \"{}\"", job.spec.queue)};
  }
  const QueueTree::Node& node = queues.node(*index);
  if (!node.problem.empty()) {
    return model::Pending{kQueueNotReady, fmt::format("queue {}: {}", node.name, node.problem)};
  }
  for (const QueueTree::Index above : node.path) {
    const auto* queue = queues.node(above).queue;
    if (queue == nullptr || namespaceAllowed(**queue, job.key.ns, snapshot)) continue;
    return model::Pending{
        kNamespaceNotAllowed,
        fmt::format("spec.queue: the namespaceSelector of queue {} does not allow namespace {}",
                    (*queue)->name, job.key.ns)};
  }
  const QueueTree::Amounts demand = queues.demandOf(job);
  if (const auto beyond = queues.beyondEmptyLimit(*index, demand)) {
    return model::Pending{
        kQuotaExceeded,
        fmt::format("the job needs {}, and queue {} may never have more than {}",
                    queues.plain(beyond->dimension, demand[beyond->dimension]),
                    queues.node(beyond->queue).name, queues.amount(beyond->dimension, beyond->bound))};
  }
  return std::nullopt;
}

}  // namespace

bool leftToOthers(const model::Job& job) {
  const std::string& manager = job.spec.run.managedBy;
  return !manager.empty() && manager != kOurselves;
}

Admission admit(const model::Job& job, const model::Snapshot& snapshot, const QueueTree& queues,
                const JobFeedback& feedback) {
  using enum model::PendingReason;
  if (!job.specError.empty()) {
    return refuse(job.errorInTemplate ? kInvalidTemplate : kInvalidSpec, job.specError);
  }

  if (const std::string unknown = unknownLevel(job.spec.locality, snapshot.policy.topology);
      !unknown.empty()) {
    return refuse(kInvalidSpec, unknown);
  }

  if (auto refusal = refuseQueue(job, snapshot, queues)) return {.refusal = std::move(refusal)};

  const auto& classes = snapshot.priorityClasses;
  const std::string& wanted = job.spec.priorityClassName;
  const bool classExists =
      std::any_of(classes.begin(), classes.end(), [&](const auto& c) { return c->name == wanted; });
  if (!wanted.empty() && !classExists) {
    return refuse(kPriorityClassNotFound,
                  fmt::format("spec.priorityClassName: there is no PriorityClass named \"{}\"", wanted));
  }

  return admitTemplate(feedback).value_or(Admission{});
}

std::optional<Admission> admitTemplate(const JobFeedback& feedback) {
  if (!feedback.templateError) return Admission{.needsTemplateCheck = true};
  if (feedback.templateError->empty()) return std::nullopt;
  return refuse(model::PendingReason::kInvalidTemplate, *feedback.templateError);
}

std::optional<std::string> refusalOfTemplate(const model::Job& job) {
  const model::Condition* admitted = job.condition(model::conditions::kAdmitted);
  const bool refused = admitted != nullptr && admitted->status == model::ConditionStatus::kFalse &&
                       admitted->reason == model::toString(model::PendingReason::kInvalidTemplate);
  return refused ? std::optional(admitted->message) : std::nullopt;
}

}  // namespace trainyard::core
