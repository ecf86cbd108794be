#include "operator/orphaned_gangs.h"

#include <utility>

#include <fmt/format.h>

#include "codec/gang_name_of.h"
#include "codec/gang_spec_patch.h"
#include "codec/workload.h"
#include "kube/paths.h"
#include "model/owner_kinds.h"

namespace trainyard::operator_ {
namespace {

// The garbage collector deletes the Gangs of deleted owners within moments.
constexpr base::Instant::duration kLookEvery = std::chrono::seconds(10);

}  // namespace

OrphanedGangs::OrphanedGangs(Dependencies dependencies) : deps_(std::move(dependencies)) {
  deps_.watches.onChange([this](const model::OwnerKind& kind, const model::ObjectKey& key) {
    if (!started_ || !deps_.leading() || deps_.watches.find(kind, key)) return;
    const auto gang = deps_.cache.jobs.gangs.find({key.ns, codec::gangNameOf(key.name, kind.kind)});
    if (gang && !gang->owner->uid.empty() && !gang->deleting) askForOwner(*gang, IfGone::kWait);
  });
}

void OrphanedGangs::start() {
  if (!std::exchange(started_, true)) look();
}

void OrphanedGangs::look() {
  std::set<model::Uid> unknown;
  if (deps_.leading()) {
    for (const auto& gang : deps_.cache.jobs.gangs.all()) {
      const model::Uid& owner = gang->owner->uid;
      if (owner.empty() || gang->deleting || deps_.cache.jobs.knowsOwner(owner)) continue;
      if (suspected_.contains(gang->uid)) askForOwner(*gang, IfGone::kDisown);
      unknown.insert(gang->uid);
    }
  }
  suspected_ = std::move(unknown);
  deps_.executor.postAfter(kLookEvery, [this, alive = alive_] {
    if (*alive) look();
  });
}

// An owner that has lost its queue label, or whose kind is not enabled, is unknown, too.
void OrphanedGangs::askForOwner(const model::Gang& gang, IfGone ifGone) {
  const model::OwnerKind* kind =
      model::findOwnerKind(model::groupOf(gang.owner->apiVersion), gang.owner->kind);
  if (kind == nullptr) return;
  const kube::ResourceType type{kind->group, kind->version, kind->plural};
  deps_.api.get(type.object(gang.key.ns, gang.owner->name),
                [this, key = gang.key, uid = gang.uid, kind, ifGone,
                 alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                  if (!*alive) return;
                  const auto now = deps_.cache.jobs.gangs.find(key);
                  if (!now || now->uid != uid || now->deleting) return;
                  if (!answer && answer.error().code != base::ErrorCode::kNotFound) return;
                  const auto found = answer ? codec::decodeWorkload(*kind, answer->body)
                                            : base::Result<model::Workload>(tl::unexpected(answer.error()));
                  if (answer && (!found || found->uid == now->owner->uid)) {
                    if (found && !found->hasQueue) left(*now);
                    return;
                  }
                  if (ifGone == IfGone::kWait) return;
                  disown(*now, {true, "OwnerGone",
                                fmt::format("{} {} is gone, and has left its pods: they are bare pods now",
                                            now->owner->kind, now->owner->name)});
                });
}

void OrphanedGangs::left(const model::Gang& gang) {
  if (gang.status.gang.placed)
    return disown(gang, {true, "OwnerLeft",
                         fmt::format("{} {} has no queue label any more: its pods are bare pods now",
                                     gang.owner->kind, gang.owner->name)});
  kube::DeleteOptions options;
  options.uid = gang.uid.str();
  deps_.api.remove(
      kube::kGangs.object(gang.key.ns, gang.key.name), options,
      [this, key = gang.key, uid = gang.uid, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (*alive && answer) deps_.cache.jobs.applyDeletion(key, uid.str(), answer->body);
      });
}

void OrphanedGangs::disown(const model::Gang& gang, const core::JobEvent& event) {
  deps_.api.patch(
      kube::PatchType::kMerge, kube::kGangs.object(gang.key.ns, gang.key.name),
      codec::encodeDisowned(gang.uid, gang.resourceVersion),
      [this, gang, event, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (!*alive) return;
        if (!answer)
          return deps_.log.warning(
              "a Gang without its owner could not be changed",
              {{"gang", gang.key.name}, {"namespace", gang.key.ns}, {"error", answer.error().message}});
        deps_.cache.jobs.applyWrite(answer->body);
        deps_.events.record(gang, event);
      });
}

}  // namespace trainyard::operator_
