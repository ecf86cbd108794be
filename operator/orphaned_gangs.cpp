#include "operator/orphaned_gangs.h"

#include <utility>

#include <fmt/format.h>

#include "codec/gang_spec_patch.h"
#include "codec/object_meta.h"
#include "kube/paths.h"
#include "model/owner_kinds.h"

namespace trainyard::operator_ {
namespace {

// The garbage collector deletes the Gangs of deleted owners within moments.
constexpr base::Instant::duration kLookEvery = std::chrono::seconds(10);

}  // namespace

void OrphanedGangs::start() {
  if (!std::exchange(started_, true)) look();
}

void OrphanedGangs::look() {
  std::set<model::Uid> unknown;
  if (deps_.leading()) {
    for (const auto& gang : deps_.cache.jobs.gangs.all()) {
      const model::Uid& owner = gang->owner->uid;
      if (owner.empty() || gang->deleting || deps_.cache.jobs.knowsOwner(owner)) continue;
      if (suspected_.contains(gang->uid)) askForOwner(*gang);
      unknown.insert(gang->uid);
    }
  }
  suspected_ = std::move(unknown);
  deps_.executor.postAfter(kLookEvery, [this, alive = alive_] {
    if (*alive) look();
  });
}

// An owner that has lost its queue label, or whose kind is not enabled, is unknown, too.
void OrphanedGangs::askForOwner(const model::Gang& gang) {
  const model::OwnerKind* kind =
      model::findOwnerKind(model::groupOf(gang.owner->apiVersion), gang.owner->kind);
  if (kind == nullptr) return;
  const kube::ResourceType type{kind->group, kind->version, kind->plural};
  deps_.api.get(
      type.object(gang.key.ns, gang.owner->name),
      [this, key = gang.key, uid = gang.uid, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (!*alive) return;
        const auto now = deps_.cache.jobs.gangs.find(key);
        if (!now || now->uid != uid || now->deleting) return;
        if (!answer && answer.error().code != base::ErrorCode::kNotFound) return;
        if (answer) {
          const auto found = codec::decodeObjectMeta(answer->body);
          if (!found || found->uid == now->owner->uid.str()) return;
        }
        disown(*now);
      });
}

void OrphanedGangs::disown(const model::Gang& gang) {
  deps_.api.patch(
      kube::PatchType::kMerge, kube::kGangs.object(gang.key.ns, gang.key.name),
      codec::encodeDisowned(gang.uid, gang.resourceVersion),
      [this, gang, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (!*alive) return;
        if (!answer)
          return deps_.log.warning(
              "a Gang without its owner could not be changed",
              {{"gang", gang.key.name}, {"namespace", gang.key.ns}, {"error", answer.error().message}});
        deps_.cache.jobs.applyWrite(answer->body);
        deps_.events.record(gang, {true, "OwnerGone",
                                   fmt::format("{} {} is gone, and has left its pods: they are bare pods now",
                                               gang.owner->kind, gang.owner->name)});
      });
}

}  // namespace trainyard::operator_
