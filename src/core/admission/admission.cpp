#include "core/admission/admission.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/queues/holdings.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "model/charge.h"
#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

Admission refuse(model::PendingReason reason, std::string message) {
  return {.refusal = model::Pending{reason, std::move(message)}};
}

// A constraint on a level that the cluster's topology does not have would never hold, and report no error.
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
  const model::QueueName& name = queues.requestedQueueOf(job);
  const auto index = queues.find(name);
  if (!index) {
    const std::string from =
        name == job.spec.queue
            ? "spec.queue"
            : fmt::format("label {} of namespace {}", model::names::kDefaultQueueLabel, job.key.ns);
    return model::Pending{kQueueNotFound, fmt::format("{}: there is no Queue named \"{}\"", from, name)};
  }
  const QueueTree::Node& node = queues.node(*index);
  if (node.queue == nullptr && snapshot.policy.requireQueue && !snapshot.queues.empty()) {
    return model::Pending{kNoQueue,
                          fmt::format("spec.queue: is required by the cluster's policy (requireQueue), "
                                      "unless namespace {} names a Queue by its label {}",
                                      job.key.ns, model::names::kDefaultQueueLabel)};
  }
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
  return std::nullopt;
}

std::optional<model::Pending> refuseSize(const model::Job& job, const model::Snapshot& snapshot,
                                         const QueueTree& queues) {
  const QueueTree::Index index = *queues.find(queues.requestedQueueOf(job));
  // An elastic gang may start with its minimum if there is no capacity for more.
  const auto minimum = minimumOf(job, snapshot.policy);
  const Amounts demand = demandOf(queues.capacity(), minimum ? *minimum : job);
  if (const auto beyond = beyondEmptyLimit(queues, index, demand)) {
    return model::Pending{
        model::PendingReason::kQuotaExceeded,
        fmt::format("the job needs {}, and queue {} may never have more than {}",
                    queues.dimensions().plainText(beyond->dimension, demand[beyond->dimension]),
                    queues.node(beyond->queue).name,
                    queues.dimensions().text(beyond->dimension, beyond->bound))};
  }
  return std::nullopt;
}

// A system class outranks every other class in every queue, and the kubelet evicts such pods last. A job may
// have such a class only if its Queue allows it explicitly.
bool isOfSystem(std::string_view priorityClass) { return priorityClass.starts_with("system-"); }

std::optional<model::Pending> refuseClass(const model::Job& job, const model::Snapshot& snapshot,
                                          const QueueTree& queues) {
  using enum model::PendingReason;
  const model::PriorityClass* known = Priorities(snapshot).classOf(job);
  const std::string& wanted = job.spec.priorityClassName;
  if (known == nullptr) {
    if (wanted.empty()) return std::nullopt;
    return model::Pending{
        kPriorityClassNotFound,
        fmt::format("spec.priorityClassName: there is no PriorityClass named \"{}\"", wanted)};
  }
  const QueueTree::Node& node = queues.node(*queues.find(queues.requestedQueueOf(job)));
  bool listed = false;
  for (const QueueTree::Index above : node.path) {
    const auto* queue = queues.node(above).queue;
    if (queue == nullptr || !(*queue)->allowedPriorityClasses) continue;
    const auto& allowed = *(*queue)->allowedPriorityClasses;
    listed = std::find(allowed.begin(), allowed.end(), known->name) != allowed.end();
    if (listed) continue;
    return model::Pending{
        kPriorityClassNotAllowed,
        fmt::format("spec.priorityClassName: queue {} does not allow PriorityClass \"{}\", only {}",
                    (*queue)->name, known->name,
                    allowed.empty() ? "jobs without any" : model::joinList(allowed))};
  }
  if (listed || !isOfSystem(known->name)) return std::nullopt;
  return model::Pending{
      kPriorityClassNotAllowed,
      fmt::format("spec.priorityClassName: PriorityClass \"{}\" is reserved for the system; a job may use it "
                  "only if its Queue lists it in spec.allowedPriorityClasses",
                  known->name)};
}

}  // namespace

std::optional<model::Pending> refuseUse(const model::Job& job, const model::Snapshot& snapshot,
                                        const QueueTree& queues) {
  using enum model::PendingReason;
  if (!job.specError.empty())
    return model::Pending{job.errorInTemplate ? kInvalidTemplate : kInvalidSpec, job.specError};
  if (std::string unknown = unknownLevel(job.spec.locality, snapshot.policy.topology); !unknown.empty())
    return model::Pending{kInvalidSpec, std::move(unknown)};
  if (auto refusal = refuseQueue(job, snapshot, queues)) return refusal;
  return refuseClass(job, snapshot, queues);
}

bool mayGetNewPods(const model::Job& job, const model::Snapshot& snapshot, const QueueTree& queues) {
  if (!model::sameCharge(job, queues.requestedQueueOf(job))) return false;
  const auto& charge = job.status.gang.charge;
  const model::PriorityClass* known = Priorities(snapshot).classOf(job);
  if (!charge || charge->priority == (known == nullptr ? 0 : known->value)) return true;
  return !queues.find(queues.requestedQueueOf(job)) || !refuseClass(job, snapshot, queues);
}

Admission admit(const model::Job& job, const model::Snapshot& snapshot, const QueueTree& queues,
                const JobFeedback& feedback) {
  if (auto refusal = refuseUse(job, snapshot, queues)) return {.refusal = std::move(refusal)};
  if (auto refusal = refuseSize(job, snapshot, queues)) return {.refusal = std::move(refusal)};
  // Its controller creates the pods of a Gang.
  if (job.owner != nullptr) return {};
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
