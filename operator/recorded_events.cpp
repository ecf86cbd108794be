#include "operator/recorded_events.h"

#include <utility>

#include "codec/json_value.h"
#include "kube/paths.h"
#include "model/names.h"

namespace trainyard::operator_ {

RecordedEvents::RecordedEvents(const OperatorOptions& options, kube::ApiClient& api, base::Executor& executor,
                               base::Logger log)
    : options_(options),
      api_(api),
      recorder_({.controller = "trainyard.dev/operator", .instance = options.identity}, api, executor,
                std::move(log)) {}

void RecordedEvents::record(const model::Job& job, const core::JobEvent& event) {
  const kube::ObjectRef regarding{
      .apiVersion = std::string(model::names::kApiVersion),
      .kind = std::string(job.owner == nullptr ? model::names::kTrainingJobKind : model::names::kGangKind),
      .ns = job.key.ns,
      .name = job.key.name,
      .uid = job.uid.str()};
  recordOn(regarding, event);
}

void RecordedEvents::recordOn(const codec::ObjectRef& object, const core::JobEvent& event) {
  recorder_.record(object, event.warning ? kube::EventType::kWarning : kube::EventType::kNormal, event.reason,
                   "Scheduling", event.note);
}

void RecordedEvents::recordReady(const model::Queue& queue, const model::Condition& ready) {
  const kube::ObjectRef regarding{.apiVersion = std::string(model::names::kApiVersion),
                                  .kind = "Queue",
                                  .ns = "",
                                  .name = queue.name.str(),
                                  .uid = queue.uid.str()};
  const bool good = ready.status == model::ConditionStatus::kTrue && ready.reason == "Usable";
  recorder_.record(regarding, good ? kube::EventType::kNormal : kube::EventType::kWarning, ready.reason,
                   "Scheduling", ready.message);
}

void RecordedEvents::recordPolicyRefused(const std::string& complaint) {
  const auto record = [this, complaint](const kube::ObjectRef& regarding) {
    recorder_.record(regarding, kube::EventType::kWarning, "PolicyRefused", "Reloading", complaint);
  };
  const std::string& ns = options_.leaseNamespace;
  const std::string& name = options_.policyConfigMap;
  // The Lease belongs to the operator and exists in every kind of installation.
  if (name.empty()) {
    return record({.apiVersion = "coordination.k8s.io/v1",
                   .kind = "Lease",
                   .ns = ns,
                   .name = options_.leaseName,
                   .uid = ""});
  }
  // `kubectl describe` shows the Events of an object's uid only.
  api_.request(
      {.path = kube::kConfigMaps.object(ns, name)},
      [record, ns, name, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (!*alive) return;
        kube::ObjectRef policy{.apiVersion = "v1", .kind = "ConfigMap", .ns = ns, .name = name, .uid = ""};
        const auto object = answer ? codec::JsonDocument::parse(answer->body) : base::fail(answer.error());
        if (object) policy.uid = object->root().find("metadata").find("uid").string().value_or("");
        record(policy);
      });
}

}  // namespace trainyard::operator_
