#include "kube/job_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codec/gang_name_of.h"

namespace trainyard::kube {
namespace {

bool isGang(std::string_view object) {
  const auto meta = codec::decodeObjectMeta(object);
  return meta && model::isGangName(meta->name);
}

}  // namespace

model::SharedList<model::Job> JobCache::all() const {
  model::SharedList<model::Job> jobs = trainingJobs.all();
  if (gangs.size() == 0) return jobs;
  const model::SharedList<model::Gang> others = gangs.all();
  const bool same = merged_.jobs.isSameAs(jobs) && merged_.gangs.isSameAs(others);
  if (same && merged_.owners == ownersVersion_) return merged_.all;
  std::vector<Pointer> shown;
  shown.reserve(others.size());
  std::erase_if(shown_, [&](const auto& each) { return gangs.find(each.first) == nullptr; });
  for (const auto& gang : others) shown.push_back(withOwner(gang));
  model::SharedList<model::Job>::Items items;
  items.reserve(jobs.size() + shown.size());
  std::merge(jobs.begin(), jobs.end(), shown.begin(), shown.end(), std::back_inserter(items),
             [](const auto& a, const auto& b) { return a->key < b->key; });
  merged_ = {std::move(jobs), others, ownersVersion_, model::SharedList<model::Job>(std::move(items))};
  return merged_.all;
}

JobCache::Pointer JobCache::withOwner(const Pointer& gang) const {
  if (!gang || gang->owner->uid.empty()) return gang;
  const auto known = owners_.find(gang->owner->uid);
  if (known == owners_.end()) return gang;
  Shown& shown = shown_[gang->key];
  if (shown.gang == gang && shown.owner == known->second) return shown.shown;
  auto copy = std::make_shared<model::Job>(*gang);
  // A Gang that a user has written neither starts nor stops the owner that it names.
  const model::Owner& owner = *known->second;
  if (const std::string own = codec::gangNameOf(owner.name, owner.kind); own == gang->key.name) {
    copy->owner = known->second;
  } else {
    copy->specError = fmt::format("spec.owner: the Gang of {} {} is {}", owner.kind, owner.name, own);
  }
  shown = {gang, known->second, std::move(copy)};
  return shown.shown;
}

void JobCache::setOwner(const model::Uid& uid, const model::Owner& owner) {
  OwnerPtr& known = owners_[uid];
  model::Owner shown = owner;
  shown.known = true;
  if (known && *known == shown) return;
  known = std::make_shared<const model::Owner>(std::move(shown));
  ++ownersVersion_;
}

void JobCache::forgetOwner(const model::Uid& uid) {
  if (owners_.erase(uid) > 0) ++ownersVersion_;
}

bool JobCache::applyWrite(std::string_view object, WriteKind kind) {
  return isGang(object) ? gangs.applyWrite(object, kind) : trainingJobs.applyWrite(object, kind);
}

void JobCache::applyDeletion(const model::ObjectKey& key, std::string_view uid, std::string_view answer) {
  const auto meta = codec::decodeObjectMeta(answer);
  if (meta && meta->uid == uid) {
    applyWrite(answer);
  } else {
    forget(key, uid);
  }
}

void JobCache::upsert(std::string_view object) {
  if (isGang(object)) return gangs.upsert(object);
  trainingJobs.upsert(object);
}

}  // namespace trainyard::kube
