#include "codec/workload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codec/decode_object.h"
#include "codec/field_at.h"
#include "codec/gang_name_of.h"
#include "codec/gang_wishes.h"
#include "codec/json_writer.h"
#include "codec/placing_template.h"
#include "codec/pod_shape.h"
#include "codec/workload_marks.h"
#include "codec/workload_roles.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

using model::OwnerKind;
using model::Workload;

model::OwnerEnd endOf(const OwnerKind& kind, std::string_view reported) {
  if (reported.empty()) return model::OwnerEnd::kNone;
  if (reported == kind.succeeded) return model::OwnerEnd::kSucceeded;
  return reported == kind.failed ? model::OwnerEnd::kFailed : model::OwnerEnd::kNone;
}

void readEnd(const OwnerKind& kind, const Field& root, model::Owner& owner) {
  if (!kind.endIn.empty()) {
    owner.end = endOf(kind, fieldAt(root, kind.endIn).text());
    owner.endMessage = root["status"]["message"].string();
    return;
  }
  root["status"]["conditions"].forEachElement([&](const Field& each) {
    const auto end = endOf(kind, each["type"].text());
    if (each["status"].text() != "True" || end == model::OwnerEnd::kNone) return;
    owner.end = end;
    owner.endMessage = each["message"].string();
  });
}

// Priorities of the pods that hold most of the GPUs are the gang's, and the first one's if none holds any.
const WorkloadRole& mainRole(const std::vector<WorkloadRole>& roles) {
  const auto gpusOf = [](const WorkloadRole& role) {
    CountedNames names;
    return readPodShape(role.podTemplate["spec"], {}, names).requests.times(role.replicas).gpus();
  };
  return *std::max_element(roles.begin(), roles.end(), [&](const WorkloadRole& a, const WorkloadRole& b) {
    return gpusOf(a) < gpusOf(b);
  });
}

std::string gangOf(const OwnerKind& kind, const Workload& workload, const Field& root,
                   const std::vector<WorkloadRole>& roles) {
  JsonWriter out;
  const std::string apiVersion = workload.owner.apiVersion;
  out.beginObject().member("apiVersion", model::names::kApiVersion).member("kind", model::names::kGangKind);
  out.key("metadata").beginObject().member("name", workload.gangName).member("namespace", workload.key.ns);
  out.key("finalizers").beginArray().string(model::names::kReleaseFinalizer).endArray();
  out.key("ownerReferences").beginArray().beginObject();
  out.member("apiVersion", apiVersion).member("kind", kind.kind).member("name", workload.key.name);
  out.member("uid", workload.uid.str()).memberBool("controller", true).endObject().endArray();
  out.endObject();
  out.key("spec").beginObject();
  out.key("owner").beginObject().member("apiVersion", apiVersion).member("kind", kind.kind);
  out.member("name", workload.key.name).member("uid", workload.uid.str()).endObject();
  writeGangWishes(root["metadata"], mainRole(roles).podTemplate["spec"], out);
  out.key("roles").beginArray();
  for (const WorkloadRole& each : roles) {
    out.beginObject().member("name", each.name).member("replicas", each.replicas);
    if (each.groupSize > 0) out.member("groupSize", each.groupSize);
    out.key("template").beginObject().key("spec");
    writePlacingSpec(each.podTemplate["spec"].value(), out);
    out.endObject().endObject();
  }
  out.endArray().endObject().endObject();
  return std::move(out).take();
}

Workload readWorkload(const OwnerKind& kind, const Field& root) {
  const Field meta = root["metadata"];
  Workload workload;
  workload.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  workload.uid = model::Uid(meta["uid"].text());
  workload.resourceVersion = meta["resourceVersion"].text();
  meta["ownerReferences"].forEachElement([&](const Field& each) {
    if (each["controller"].boolean(false)) workload.controllerUid = model::Uid(each["uid"].text());
  });
  workload.hasQueue = meta["labels"].value().find(model::names::kQueueLabel).present();
  workload.gangName = gangNameOf(workload.key.name, kind.kind);
  workload.owner = {.apiVersion = fmt::format("{}/{}", kind.group, kind.version),
                    .kind = std::string(kind.kind),
                    .name = workload.key.name,
                    .uid = workload.uid,
                    .suspends = !kind.suspendIn.empty()};
  return workload;
}

// `root`: for what every object has; `object`: the same, for complaints about the rest.
Workload readWithState(const OwnerKind& kind, const Field& root, const Field& object) {
  Workload workload = readWorkload(kind, root);
  const Field run = fieldAt(object, kind.suspendIn);
  workload.owner.suspended = run["suspend"].boolean(false);
  workload.leftToOthers = run["managedBy"].text(kind.managedBy) != kind.managedBy;
  workload.listedByJobSet = kind.form == model::WorkloadForm::kJobSetOfName;
  readEnd(kind, object, workload.owner);
  return workload;
}

void requireSuspension(const OwnerKind& kind, const Field& object) {
  if (kind.suspendsIf.empty() || !fieldAt(object, kind.podsIn).present()) return;
  const Field condition = fieldAt(object, kind.suspendsIf);
  if (!condition.boolean(false))
    condition.complain(fmt::format("must be true: no other {} can be suspended", kind.kind));
}

// A Job counts an evicted pod as a failure unless its policy ignores it.
std::string warningOf(const Field& job) {
  if (job["metadata"]["annotations"]["trainyard.dev/preemptible"].text() == "false") return {};
  bool ignores = false;
  job["spec"]["podFailurePolicy"]["rules"].forEachElement([&](const Field& rule) {
    if (rule["action"].text() != "Ignore") return;
    rule["onPodConditions"].forEachElement(
        [&](const Field& each) { ignores = ignores || each["type"].text() == "DisruptionTarget"; });
  });
  if (ignores) return {};
  return "its pods are no gang: each preemption of one counts against spec.backoffLimit, unless "
         "spec.podFailurePolicy "
         "has a rule with action Ignore for the pod condition DisruptionTarget";
}

bool isControlledBy(const Field& object, const model::Uid& uid) {
  bool is = false;
  object["metadata"]["ownerReferences"].forEachElement([&](const Field& each) {
    is = is || (each["controller"].boolean(false) && each["uid"].text() == uid.str());
  });
  return is;
}

}  // namespace

base::Result<Workload> decodeWorkload(const OwnerKind& kind, std::string_view json) {
  return decodeObject(kind.kind, json, [&](const Field& root) {
    FieldErrors errors(base::OutOfRange::kSaturate);
    const Field object(root.value(), errors);
    Workload workload = readWithState(kind, root, object);
    const std::vector<WorkloadRole> roles = readWorkloadRoles(kind, object);
    const bool isGang = isGangOfPods(kind, object);
    if (!roles.empty()) {
      requireSuspension(kind, object);
      if (isGang) {
        workload.gang = gangOf(kind, workload, object, roles);
      } else {
        workload.warning = warningOf(object);
      }
      workload.marks = encodeTemplateMarks(workload, object, isGang, roles);
    }
    workload.error = errors.first();
    return workload;
  });
}

base::Result<Workload> decodeWorkloadOfJobSet(const OwnerKind& kind, std::string_view json,
                                              std::string_view jobSet) {
  static constexpr const OwnerKind* kJobSet = model::findOwnerKind("jobset.x-k8s.io", "JobSet");
  const auto child = JsonDocument::parseObject(jobSet);
  if (!child) return base::fail(child.error());
  bool isCurrent = false;
  auto workload = decodeObject(kind.kind, json, [&](const Field& root) {
    FieldErrors errors(base::OutOfRange::kSaturate);
    const Field object(root.value(), errors);
    const Field list(child->root(), errors, kJobSet->kind);
    Workload read = readWithState(kind, root, object);
    const std::vector<WorkloadRole> roles = readWorkloadRoles(*kJobSet, list);
    const bool isMarked = roles.empty() || encodeTemplateMarks(read, list, true, roles).empty();
    isCurrent = isControlledBy(list, read.uid) && (isMarked || !hasRuntimePatch(object));
    if (!roles.empty()) read.gang = gangOf(kind, read, object, roles);
    if (!isMarked) read.marks = encodeRuntimePatch(read, object, roles);
    read.error = errors.first();
    return read;
  });
  if (workload && !isCurrent)
    return base::fail(base::ErrorCode::kNotFound, "its controller has not made the JobSet yet");
  return workload;
}

}  // namespace trainyard::codec
