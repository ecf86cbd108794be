#include "codec/kueue_workload.h"

#include <utility>

#include <fmt/format.h>

#include "codec/conditions.h"
#include "codec/counted_names.h"
#include "codec/decode_object.h"
#include "codec/json_writer.h"
#include "codec/owned_object.h"
#include "codec/placing_template.h"
#include "codec/pod_shape.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

using model::KueueWorkload;

constexpr std::string_view kWorkloadVersion = "kueue.x-k8s.io/v1beta2";
// Kueue's own label of this meaning.
constexpr std::string_view kUidOfJob = "kueue.x-k8s.io/job-uid";

std::string readPendingCheck(const Field& checks) {
  std::string pending;
  checks.forEachElement([&](const Field& each) {
    if (!pending.empty() || each["state"].text() == "Ready") return;
    pending = fmt::format("{}: {}", each["name"].text(), each["message"].text("it has not answered yet"));
  });
  return pending;
}

KueueWorkload readKueueWorkload(const Field& root) {
  const Field meta = root["metadata"];
  const Field spec = root["spec"];
  KueueWorkload workload;
  workload.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  workload.uid = model::Uid(meta["uid"].text());
  workload.resourceVersion = meta["resourceVersion"].text();
  workload.generation = meta["generation"].integer(0, 0, INT64_MAX);
  workload.deleting = meta["deletionTimestamp"].present();
  workload.job = meta["labels"][model::names::kJobNameLabel].text();
  meta["ownerReferences"].forEachElement([&](const Field& each) {
    if (each["controller"].boolean(false)) workload.controllerUid = model::Uid(each["uid"].text());
  });
  workload.queue = spec["queueName"].text();
  workload.active = spec["active"].boolean(true);
  spec["podSets"].forEachElement([&](const Field& each) {
    CountedNames names;
    workload.podSets.push_back({.name = std::string(each["name"].text("main")),
                                .count = each["count"].integer(1, 0, INT32_MAX),
                                .requests = readPodShape(each["template"]["spec"], {}, names).requests});
  });
  workload.conditions = readConditions(root["status"]["conditions"]);
  workload.pendingCheck = readPendingCheck(root["status"]["admissionChecks"]);
  return workload;
}

void writeVersion(const KueueWorkload& workload, JsonWriter& out) {
  out.member("uid", workload.uid.str()).member("resourceVersion", workload.resourceVersion);
}

void writePriority(const KueuePriority& priority, JsonWriter& out) {
  out.member("priority", priority.value);
  out.key("priorityClassRef").beginObject().member("group", priority.group);
  out.member("kind", priority.kind).member("name", priority.name).endObject();
}

}  // namespace

base::Result<KueueWorkload> decodeKueueWorkload(std::string_view json) {
  return decodeObject("Workload", json, readKueueWorkload, base::OutOfRange::kSaturate);
}

base::Result<std::string> encodeKueueWorkload(const model::Job& job,
                                              const std::optional<KueuePriority>& priority) {
  JsonWriter out;
  out.beginObject().member("apiVersion", kWorkloadVersion).member("kind", "Workload");
  out.key("metadata").beginObject();
  out.member("name", model::kueueWorkloadName(job)).member("namespace", job.key.ns);
  out.key("labels").beginObject().member(model::names::kJobNameLabel, job.key.name);
  out.member(kUidOfJob, job.uid.str()).endObject();
  writeOwnerReference(out, job);
  out.endObject();
  out.key("spec").beginObject().member("queueName", job.kueue ? job.kueue->queue : std::string());
  if (priority) writePriority(*priority, out);
  out.key("podSets").beginArray();
  for (const model::Role& role : job.spec.roles) {
    const auto document = JsonDocument::parseObject(role.templateJson);
    if (!document) return base::fail(document.error());
    out.beginObject().member("name", role.name).member("count", model::kueueCount(job, role.name));
    out.key("template").beginObject().key("spec");
    writePlacingSpec(document->root().find("spec"), out);
    out.endObject().endObject();
  }
  out.endArray().endObject().endObject();
  return std::move(out).take();
}

std::string encodeKueueOwner(const KueueWorkload& workload, const model::Job& job) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject();
  writeVersion(workload, out);
  out.key("labels").beginObject().member(kUidOfJob, job.uid.str()).endObject();
  writeOwnerReference(out, job);
  out.endObject().endObject();
  return std::move(out).take();
}

std::string encodeKueueStatus(const KueueWorkload& workload, const std::vector<model::Condition>& conditions,
                              bool givesQuotaBack) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject();
  writeVersion(workload, out);
  out.endObject().key("status").beginObject();
  writeConditions(conditions, out);
  if (givesQuotaBack) out.key("admission").null();
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
