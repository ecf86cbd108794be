#include "codec/nodes_request.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "codec/conditions.h"
#include "codec/decode_object.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "codec/member_pod.h"
#include "codec/owned_object.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kAttemptLabel = "trainyard.dev/attempt";
// A name that no scheduler uses: kube-scheduler ignores pods of other schedulers.
constexpr std::string_view kNoScheduler = "trainyard.dev-nobody";
constexpr int kMaxAttempts = 1'000'000;

model::NodesRequest readNodesRequest(const Field& root) {
  const Field meta = root["metadata"];
  model::NodesRequest request;
  request.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  request.uid = model::Uid(meta["uid"].text());
  request.resourceVersion = meta["resourceVersion"].text();
  meta["ownerReferences"].forEachElement([&](const Field& owner) {
    if (owner["controller"].boolean(false)) request.job = model::Uid(owner["uid"].text());
  });
  const std::string_view attempt = meta["labels"][kAttemptLabel].text("1");
  std::from_chars(attempt.data(), attempt.data() + attempt.size(), request.attempt);
  request.attempt = std::clamp(request.attempt, 1, kMaxAttempts);
  request.created = meta["creationTimestamp"].time().value_or(base::WallTime{});
  request.conditions = readConditions(root["status"]["conditions"]);
  return request;
}

void writeMetadata(JsonWriter& out, const model::Job& job, const std::string& name, int attempt) {
  out.key("metadata").beginObject().member("name", name).member("namespace", job.key.ns);
  out.key("labels").beginObject();
  writeJobLabels(out, job);
  out.member(kAttemptLabel, fmt::to_string(attempt)).endObject();
  writeOwnerReference(out, job);
  out.endObject();
}

// Fields that neither schedulers nor autoscalers read and that make a template large.
bool onlyForRunning(std::string_view containerMember) {
  return containerMember == "command" || containerMember == "args" || containerMember == "env" ||
         containerMember == "envFrom";
}

void writeContainers(JsonWriter& out, const JsonValue& containers) {
  out.beginArray();
  containers.forEachElement([&](JsonValue container) {
    out.beginObject();
    container.forEachMember([&](std::string_view name, JsonValue value) {
      if (value.present() && !onlyForRunning(name)) out.key(name).raw(value.minified());
    });
    out.endObject();
  });
  out.endArray();
}

enum class Containers { kWhole, kNeverRun };

// Writes the role's pod spec without the parts that tie a pod to its gang.
void writePodSpec(JsonWriter& out, const JsonValue& spec, Containers containers,
                  std::string_view priorityClass, std::string_view scheduler) {
  out.key("spec").beginObject();
  spec.forEachMember([&](std::string_view name, JsonValue value) {
    if (!value.present() || isWrittenByOperator(name)) return;
    out.key(name);
    if (containers == Containers::kNeverRun && (name == "containers" || name == "initContainers"))
      return writeContainers(out, value);
    out.raw(value.minified());
  });
  out.member("restartPolicy", "Never");
  if (!priorityClass.empty()) out.member("priorityClassName", priorityClass);
  if (!scheduler.empty()) out.member("schedulerName", scheduler);
  out.endObject();
}

base::Result<JsonDocument> parseTemplate(const model::Role& role) {
  auto document = JsonDocument::parse(role.templateJson);
  if (!document) return base::fail(base::ErrorCode::kInvalid, document.error().message);
  if (document->root().find("spec").type() != JsonType::kObject)
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("the template of role {} has no spec", role.name));
  return document;
}

}  // namespace

base::Result<model::NodesRequest> decodeNodesRequest(std::string_view json) {
  return decodeObject("provisioning request", json, readNodesRequest);
}

int membersToAskFor(const model::JobSpec& spec, const model::Role& role) {
  const bool elastic = spec.elastic && spec.elastic->role == role.name;
  return elastic ? std::max(spec.elastic->minReplicas, 0) : spec.startReplicas(role);
}

std::string nodesRequestName(const model::Job& job, int attempt) {
  return fmt::format("{}-nodes-{}-{}", job.key.name, attempt, job.uid);
}

std::string nodesTemplateName(const model::Job& job, const model::Role& role, int attempt) {
  return fmt::format("{}-{}-nodes-{}-{}", job.key.name, role.name, attempt, job.uid);
}

std::string encodeNodesRequest(const model::Job& job, int attempt, NodesApi api,
                               const model::ProvisioningPolicy& policy) {
  JsonWriter out;
  out.beginObject()
      .member("apiVersion", api == NodesApi::kV1 ? "autoscaling.x-k8s.io/v1" : "autoscaling.x-k8s.io/v1beta1")
      .member("kind", "ProvisioningRequest");
  writeMetadata(out, job, nodesRequestName(job, attempt), attempt);
  out.key("spec").beginObject().member("provisioningClassName", policy.className);
  out.key("podSets").beginArray();
  for (const model::Role& role : job.spec.roles) {
    const int count = membersToAskFor(job.spec, role);
    if (count == 0) continue;
    out.beginObject().member("count", count).key("podTemplateRef").beginObject();
    out.member("name", nodesTemplateName(job, role, attempt)).endObject().endObject();
  }
  out.endArray();
  // An autoscaler that retried for longer would create nodes that no job waits for.
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(policy.giveUpAfter).count();
  out.key("parameters").beginObject().member("ValidUntilSeconds", fmt::to_string(seconds)).endObject();
  out.endObject().endObject();
  return std::move(out).take();
}

base::Result<std::string> encodeNodesTemplate(const model::Job& job, const model::Role& role, int attempt) {
  const auto document = parseTemplate(role);
  if (!document) return base::fail(document.error());
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "PodTemplate");
  writeMetadata(out, job, nodesTemplateName(job, role, attempt), attempt);
  out.key("template").beginObject();
  const JsonValue labels = document->root().find("metadata").find("labels");
  if (labels.present()) out.key("metadata").beginObject().key("labels").raw(labels.minified()).endObject();
  writePodSpec(out, document->root().find("spec"), Containers::kWhole, job.spec.priorityClassName, {});
  out.endObject().endObject();
  return std::move(out).take();
}

std::string placeholderPrefix(const model::Job& job) {
  return fmt::format("{}-nodes-{}-", job.key.name, job.uid);
}

std::string placeholderName(const model::Job& job, const model::Role& role, int index) {
  return fmt::format("{}{}-{}", placeholderPrefix(job), role.name, index);
}

base::Result<std::string> encodePlaceholder(const model::Job& job, const model::Role& role, int index,
                                            int attempt) {
  const auto document = parseTemplate(role);
  if (!document) return base::fail(document.error());
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "Pod").key("metadata").beginObject();
  out.member("name", placeholderName(job, role, index)).member("namespace", job.key.ns);
  // Without the template's labels, so that no Service, budget or network policy selects it as a member.
  out.key("labels").beginObject().member(model::names::kNodesForLabel, job.uid.str());
  out.member(kAttemptLabel, fmt::to_string(attempt)).endObject();
  out.key("ownerReferences").beginArray().beginObject();
  out.member("apiVersion", model::names::kApiVersion).member("kind", model::names::kTrainingJobKind);
  out.member("name", job.key.name).member("uid", job.uid.str()).endObject().endArray().endObject();
  writePodSpec(out, document->root().find("spec"), Containers::kNeverRun, job.spec.priorityClassName,
               kNoScheduler);
  out.endObject();
  return std::move(out).take();
}

std::string encodeUnschedulable(base::WallTime now) {
  JsonWriter out;
  out.beginObject().key("status").beginObject().key("conditions").beginArray().beginObject();
  out.member("type", "PodScheduled").member("status", "False").member("reason", "Unschedulable");
  out.member("message", "stands for a member of a gang that fits no node");
  out.member("lastTransitionTime", base::formatTime(now));
  out.endObject().endArray().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
