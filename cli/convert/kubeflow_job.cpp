#include "cli/convert/kubeflow_job.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/scratch.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

constexpr std::array<std::string_view, 2> kKubeflowManagers{"kubeflow.org/training-operator",
                                                            "kubeflow.org/mpi-operator"};

bool sameIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

}  // namespace

bool namesGpus(const Json& podTemplate) {
  const std::string gpu(model::names::kGpuResource);
  for (const Json& container : listOf(get(podTemplate, "spec", "containers"))) {
    for (const char* part : {"limits", "requests"}) {
      if (!get(container, "resources", part, gpu.c_str()).is_null()) return true;
    }
  }
  return false;
}

KubeflowJob::KubeflowJob(const KubeflowKind& kind, Json spec, JobDraft& draft)
    : kind_(kind),
      spec_(std::move(spec)),
      run_(get(spec_, "runPolicy")),
      draft_(draft),
      notes_(draft.notes()) {}

void KubeflowJob::addRoles(std::initializer_list<const char*> keys) {
  const Json specs = get(spec_, kind_.specs);
  for (const char* key : keys) {
    for (const auto& [name, value] : specs.items()) {
      if (sameIgnoringCase(name, key) && !value.is_null()) addRole(key, value);
    }
  }
  for (const auto& [name, value] : specs.items()) {
    const bool known = std::any_of(keys.begin(), keys.end(),
                                   [&, &own = name](const char* key) { return sameIgnoringCase(own, key); });
    if (!known) notes_.lost(fmt::format("spec.{}.{}: not carried over", kind_.specs, name));
  }
  Json rest = spec_;
  rest.erase(kind_.specs);
  notes_.noteUnknown(rest, "spec", "spec");
}

void KubeflowJob::addRole(const char* key, const Json& part) {
  notes_.noteUnknown(part, "spec.*ReplicaSpecs.*", fmt::format("spec.{}.{}", kind_.specs, key));
  const RoleDraft* role = draft_.roles().add(key, get(part, "replicas"), get(part, "template"));
  if (role != nullptr) addRestarts(get(part, "restartPolicy"), *role);
}

void KubeflowJob::addRestarts(const Json& policy, const RoleDraft& role) {
  const std::string text = policy.is_null() ? kind_.restart : textOf(policy);
  if (kind_.retries) return draft_.failures().role(role.name, OnFailure::kRestart);
  if (text == "Never") {
    draft_.failures().role(role.name, OnFailure::kEnd);
    notes_.kept(
        fmt::format("{}: restartPolicy Never: a failure ends the job (spec.failure); preemption and lost "
                    "nodes are not failures",
                    role.original));
  } else if (text == "ExitCode") {
    draft_.failures().role(role.name, OnFailure::kByExitCode);
    notes_.kept(fmt::format("{}: restartPolicy ExitCode: spec.failure.rules restart codes from 128 on",
                            role.original));
  } else {
    draft_.failures().role(role.name, OnFailure::kRestart);
    restarts_.emplace_back(role.original, text);
    noteScratch(role, draft_);  // a container that the kubelet restarts keeps the pod's volumes
    if (text == "Always")
      notes_.changed(
          fmt::format("{}: restartPolicy Always: a member that ends with 0 has succeeded", role.original));
  }
}

void KubeflowJob::noteRestarts(bool memberOnly) {
  for (const auto& [role, policy] : restarts_)
    notes_.kept(fmt::format(
        "{}: restartPolicy {}: spec.failure counts every failure, whatever its class, and {} again; without "
        "rules hopeless failures end at once",
        role, policy, memberOnly ? "the failed member alone starts" : "the whole gang starts"));
}

void KubeflowJob::addRunPolicy(bool outlives) {
  Json policy = get(run_, "cleanPodPolicy");
  if (policy.is_null()) policy = "None";
  draft_.set("run", "cleanPodPolicy", policy);
  const RoleDraft* worker = draft_.roles().find("worker");
  if (policy == "None" && worker != nullptr && outlives && draft_.roles().members() > 1 &&
      namesGpus(worker->pod))
    notes_.changed(
        "cleanPodPolicy None: workers that still run when the job has succeeded are deleted, as they hold "
        "GPUs; Kubeflow lets them end by themselves (spec.success.roles has all roles wait)");
  for (const char* key : {"ttlSecondsAfterFinished", "activeDeadlineSeconds"}) {
    if (Json value = get(run_, key); !value.is_null()) draft_.set("run", key, value);
  }
  draft_.addSuspend(get(run_, "suspend"), "runPolicy.suspend");
  Json limit = get(run_, "backoffLimit");
  if (kind_.retries) {
    if (limit.is_null()) limit = *kind_.retries;
    notes_.kept(
        fmt::format("backoffLimit {}: spec.failure has the whole gang start again so often, where "
                    "Kubeflow starts the launcher",
                    valueText(limit)));
  }
  if (!limit.is_null()) draft_.failures().limit(std::move(limit));
  const std::string manager = textOf(get(run_, "managedBy"));
  const bool usual =
      std::find(kKubeflowManagers.begin(), kKubeflowManagers.end(), manager) != kKubeflowManagers.end();
  if (!manager.empty() && !usual)
    notes_.lost(fmt::format("runPolicy.managedBy {}: not carried over; see spec.managedBy", manager));
  addScheduling(get(run_, "schedulingPolicy"));
}

void KubeflowJob::addScheduling(const Json& scheduling) {
  draft_.takeQueue(get(scheduling, "queue"), "runPolicy.schedulingPolicy.queue");
  copy(scheduling, "priorityClass", draft_.spec(), "priorityClassName");
  if (const Json minimum = get(scheduling, "minAvailable"); !minimum.is_null() && minimum != 0) {
    if (!get(draft_.spec(), "elastic").is_null()) {
      notes_.changed("runPolicy.schedulingPolicy.minAvailable: spec.elastic bounds the size of the job");
    } else if (countOf(minimum) < draft_.roles().members() || !minimum.is_number_integer()) {
      draft_.set("gang", "minAvailable", minimum);
    }
  }
  if (!get(scheduling, "scheduleTimeoutSeconds").is_null())
    notes_.kept("runPolicy.schedulingPolicy.scheduleTimeoutSeconds: left out: no part of a gang holds nodes");
}

// Kubeflow creates a Service for the name of each pod.
void KubeflowJob::addMemberNames(const std::string& roles) {
  const std::string own = draft_.name().empty() ? "" : re2::RE2::QuoteMeta(draft_.name()) + "|";
  const std::string member = fmt::format(R"(({}\$\w+|\$[{{(]\w+[^\s)}}]*[)}}])-({})-(\d+|\$))", own, roles);
  if (!draft_.mentions(member)) return;
  draft_.set("gang", "memberServices", true);
  notes_.kept(
      fmt::format("names such as JOB-{}-0 are host names: a Service for each member (gang.memberServices)",
                  roles.substr(0, roles.find('|'))));
}

std::string KubeflowJob::portOf(const std::string& name, const std::string& usual) {
  std::string port = usual;
  for (const RoleDraft& role : draft_.roles()) {
    for (const Json& container : listOf(get(role.pod, "spec", "containers"))) {
      for (const Json& each : listOf(get(container, "ports"))) {
        if (textOf(get(each, "name")) == name && !valueText(get(each, "containerPort")).empty())
          port = valueText(get(each, "containerPort"));
      }
    }
  }
  return port;
}

void KubeflowJob::set(const std::string& name, const std::string& value) {
  for (RoleDraft& role : draft_.roles()) {
    role.variables.emplace_back(name, value);
    role.overwritten.insert(name);
  }
}

}  // namespace trainyard::cli
