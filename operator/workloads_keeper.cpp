#include "operator/workloads_keeper.h"

#include <fmt/format.h>

#include "codec/gang_name_of.h"
#include "codec/gang_object.h"
#include "codec/gang_spec_patch.h"
#include "codec/suspend_patch.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

// After a request that failed.
constexpr base::Instant::duration kRepeat = std::chrono::seconds(5);
// Until a controller has made what lists the pods of its object.
constexpr base::Instant::duration kReadAgain = std::chrono::seconds(1);

kube::ResourceType resourceOf(const model::OwnerKind& kind) {
  return {kind.group, kind.version, kind.plural};
}

}  // namespace

WorkloadsKeeper::WorkloadsKeeper(Dependencies dependencies)
    : deps_(std::move(dependencies)), reader_(deps_.api) {
  deps_.watches.onChange(
      [this](const model::OwnerKind& kind, const model::ObjectKey& key) { mark({&kind, key}); });
  deps_.cache.jobs.gangs.onChange([this](const auto& before, const auto& after) {
    const model::Gang& gang = after ? *after : *before;
    const auto* kind = model::findOwnerKind(model::groupOf(gang.owner->apiVersion), gang.owner->kind);
    if (kind != nullptr && codec::gangNameOf(gang.owner->name, kind->kind) == gang.key.name)
      return mark({kind, {gang.key.ns, gang.owner->name}});
    // Users have written it: it may have the name that the Gang of a workload should have.
    const model::ObjectKey owner{gang.key.ns, gang.key.name.substr(0, gang.key.name.rfind('.'))};
    for (const model::OwnerKind& each : model::kOwnerKinds) {
      if (codec::gangNameOf(owner.name, each.kind) == gang.key.name) mark({&each, owner});
    }
  });
}

void WorkloadsKeeper::start() {
  started_ = true;
  deps_.watches.forEach(
      [this](const model::OwnerKind& kind, const model::ObjectKey& key) { mark({&kind, key}); });
}

void WorkloadsKeeper::mark(const Id& id) {
  if (!started_) return;
  marked_.insert(id);
  if (std::exchange(scheduled_, true)) return;
  deps_.executor.post([this, alive = alive_] {
    if (*alive) reconcileMarked();
  });
}

void WorkloadsKeeper::reconcileMarked() {
  scheduled_ = false;
  if (!deps_.leading()) return;
  for (const Id& id : std::exchange(marked_, {})) reconcile(id);
}

void WorkloadsKeeper::reconcile(const Id& id) {
  if (busy_.contains(id)) return;  // done() marks it again
  const auto workload = deps_.watches.find(*id.first, id.second);
  if (!workload || workload->leftToOthers || deps_.watches.has(workload->controllerUid)) return;
  if (workload->owner.end != model::OwnerEnd::kNone) return;
  if (!workload->listedByJobSet) return act(id, *workload);
  const auto gang = gangOf(*workload);
  if (gang && (gang->status.gang.placed || gang->status.gang.proposal)) return;
  busy_.insert(id);
  reader_.read(*id.first, id.second, [this, id](const WorkloadReader::Answer& answer) {
    busy_.erase(id);
    if (answer) return act(id, *answer);
    deps_.executor.postAfter(kReadAgain, [this, id, alive = alive_] {
      if (*alive) mark(id);
    });
  });
}

void WorkloadsKeeper::act(const Id& id, const model::Workload& workload) {
  if (!workload.error.empty()) return refuse(workload, workload.error);
  if (!workload.marks.empty() && !runsInItsPlaces(workload)) return prepare(id, workload);
  if (!workload.gang.empty()) return keepGang(id, workload);
  if (const auto gang = gangOf(workload)) return remove(id, *gang);
  if (workload.owner.suspended) suspend(id, workload, false);
}

std::shared_ptr<const model::Gang> WorkloadsKeeper::gangOf(const model::Workload& workload) const {
  const auto gang = deps_.cache.jobs.gangs.find({workload.key.ns, workload.gangName});
  return gang && gang->owner->uid == workload.uid ? gang : nullptr;
}

// The template of a gang that runs has been replaced: it is marked again when the gang is next stopped.
bool WorkloadsKeeper::runsInItsPlaces(const model::Workload& workload) const {
  const auto gang = gangOf(workload);
  return gang && gang->status.gang.placed && !workload.owner.suspended;
}

void WorkloadsKeeper::refuse(const model::Workload& workload, const std::string& why) {
  record(workload, {true, "InvalidGang", why});
}

void WorkloadsKeeper::record(const model::Workload& workload, const core::JobEvent& event) {
  const model::Owner& owner = workload.owner;
  deps_.events.recordOn({.apiVersion = owner.apiVersion,
                         .kind = owner.kind,
                         .ns = workload.key.ns,
                         .name = workload.key.name,
                         .uid = workload.uid.str()},
                        event);
}

void WorkloadsKeeper::prepare(const Id& id, const model::Workload& workload) {
  if (!workload.warning.empty()) record(workload, {true, "PreemptionCounts", workload.warning});
  if (workload.owner.suspends && !workload.owner.suspended) return suspend(id, workload, true);
  patchOwner(id, workload, kube::PatchType::kJson, workload.marks);
}

void WorkloadsKeeper::suspend(const Id& id, const model::Workload& workload, bool suspended) {
  patchOwner(id, workload, kube::PatchType::kMerge,
             codec::encodeSuspendPatch(workload.uid, id.first->suspendIn, suspended));
}

void WorkloadsKeeper::keepGang(const Id& id, const model::Workload& workload) {
  const model::ObjectKey key{workload.key.ns, workload.gangName};
  const auto gang = deps_.cache.jobs.gangs.find(key);
  if (gang && gang->owner->uid == workload.uid) return follow(id, workload, *gang);
  // The Gang of a former object of this name goes first: its deletion marks this one.
  const bool isOfFormer =
      gang && gang->owner->kind == workload.owner.kind && gang->owner->name == workload.key.name;
  if (isOfFormer) return;
  if (gang)
    return refuse(workload, fmt::format("Gang {} exists, and is not of this {}: delete it", key.name,
                                        workload.owner.kind));
  busy_.insert(id);
  deps_.api.create(kube::kGangs.collection(key.ns), workload.gang,
                   [this, id, workload, alive = alive_](const Answer& answer) {
                     if (!*alive) return;
                     if (!answer && answer.error().code == base::ErrorCode::kInvalid)
                       refuse(workload, answer.error().message);
                     if (answer) deps_.cache.jobs.applyWrite(answer->body, kube::WriteKind::kCreate);
                     done(id, answer, "a Gang could not be created");
                   });
}

// A placed gang is charged as it was placed, but follows the number of pods that its owner wants.
void WorkloadsKeeper::follow(const Id& id, const model::Workload& workload, const model::Gang& gang) {
  if (gang.deleting || gang.status.gang.proposal) return;
  const auto wanted = codec::decodeGang(workload.gang);
  if (!wanted) return;
  const auto parts = gang.status.gang.placed ? codec::GangSpecParts::kRoles : codec::GangSpecParts::kAll;
  if (codec::sameGangSpec(wanted->spec, gang.spec, parts)) return;
  const auto patch = codec::encodeGangSpecPatch(workload.gang, gang.resourceVersion, parts);
  if (!patch) return;
  busy_.insert(id);
  deps_.api.patch(kube::PatchType::kMerge, kube::kGangs.object(gang.key.ns, gang.key.name), *patch,
                  [this, id, workload, alive = alive_](const Answer& answer) {
                    if (!*alive) return;
                    if (!answer && answer.error().code == base::ErrorCode::kInvalid)
                      refuse(workload, answer.error().message);
                    if (answer) deps_.cache.jobs.applyWrite(answer->body);
                    done(id, answer, "a Gang could not be changed");
                  });
}

// Its owner wants no pods any more, or none that need each other.
void WorkloadsKeeper::remove(const Id& id, const model::Gang& gang) {
  if (gang.deleting) return;
  busy_.insert(id);
  kube::DeleteOptions options;
  options.uid = gang.uid.str();
  deps_.api.remove(kube::kGangs.object(gang.key.ns, gang.key.name), options,
                   [this, id, key = gang.key, uid = gang.uid, alive = alive_](const Answer& answer) {
                     if (!*alive) return;
                     if (answer) deps_.cache.jobs.applyDeletion(key, uid.str(), answer->body);
                     done(id, answer, "a Gang could not be deleted");
                   });
}

void WorkloadsKeeper::patchOwner(const Id& id, const model::Workload& workload, kube::PatchType type,
                                 std::string body) {
  busy_.insert(id);
  deps_.api.patch(type, resourceOf(*id.first).object(workload.key.ns, workload.key.name), std::move(body),
                  [this, id, workload, alive = alive_](const Answer& answer) {
                    if (!*alive) return;
                    if (answer) deps_.watches.applyWrite(*id.first, answer->body);
                    patched(id, workload, answer);
                  });
}

// The patch is for one version of the object, and the watch may not show yet that there is another. If so it
// is looked at again at once; otherwise its owner learns why the API server, or a webhook of its kind,
// refuses.
void WorkloadsKeeper::patched(const Id& id, const model::Workload& workload, const Answer& answer) {
  if (answer || answer.error().code != base::ErrorCode::kInvalid)
    return done(id, answer, "a workload could not be prepared");
  deps_.api.get(resourceOf(*id.first).object(workload.key.ns, workload.key.name),
                [this, id, workload, refusal = answer, alive = alive_](const Answer& read) {
                  if (!*alive) return;
                  if (read) deps_.watches.applyWrite(*id.first, read->body);
                  const auto now = deps_.watches.find(*id.first, id.second);
                  const bool isOld = !now || now->resourceVersion != workload.resourceVersion;
                  if (read && isOld) return done(id, read, {});
                  if (read) refuse(workload, refusal.error().message);
                  done(id, refusal, "a workload could not be prepared");
                });
}

// The watch may have shown the write before its answer came, while the object was busy: it is looked at
// again. What failed is tried again later.
void WorkloadsKeeper::done(const Id& id, const Answer& answer, std::string_view what) {
  busy_.erase(id);
  if (answer) return mark(id);
  deps_.log.warning(std::string(what), {{"kind", id.first->kind},
                                        {"namespace", id.second.ns},
                                        {"name", id.second.name},
                                        {"error", answer.error().message}});
  deps_.executor.postAfter(kRepeat, [this, id, alive = alive_] {
    if (*alive) mark(id);
  });
}

}  // namespace trainyard::operator_
