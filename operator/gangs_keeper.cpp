#include "operator/gangs_keeper.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "codec/arrival.h"
#include "codec/leader_worker_set.h"
#include "codec/pod_group.h"
#include "core/gang/owned_size.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

// A controller makes a deleted pod again within moments: its gang keeps its places for so long without a pod.
constexpr base::Instant::duration kKeptWithoutPods = std::chrono::seconds(10);
// After an attempt that failed.
constexpr base::Instant::duration kTryAgain = std::chrono::seconds(10);

constexpr std::string_view kOfGroup = ".group";
// Named by the label of the pods, alone, or a group of a LeaderWorkerSet.
constexpr std::array<std::string_view, 3> kKindsOfPods{".pods", ".pod", kOfGroup};

constexpr kube::ResourceType kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets"};

// The Gang of an owner is created for that owner alone, whatever pods name it.
bool isOfBarePods(std::string_view gang) {
  return std::any_of(kKindsOfPods.begin(), kKindsOfPods.end(),
                     [&](std::string_view kind) { return gang.ends_with(kind); });
}

}  // namespace

GangsKeeper::GangsKeeper(Dependencies dependencies) : deps_(std::move(dependencies)) {
  deps_.cache.pods.onChange([this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
  deps_.cache.jobs.gangs.onChange(
      [this](const auto& before, const auto& after) { mark(after ? after->key : before->key); });
}

void GangsKeeper::start() {
  started_ = true;
  for (const auto& [gang, pods] : pods_) mark(gang);
  for (const auto& gang : deps_.cache.jobs.gangs.all()) mark(gang->key);
}

void GangsKeeper::podChanged(const PodPtr& before, const PodPtr& after) {
  const auto gangOf = [](const PodPtr& pod) -> std::optional<model::ObjectKey> {
    if (pod && pod->arrival) return model::ObjectKey{pod->key.ns, pod->arrival->gang};
    if (pod && !pod->gangUid.empty()) return model::ObjectKey{pod->key.ns, pod->member->jobName};
    return std::nullopt;
  };
  if (before && !after) reported_.erase(before->key);
  if (const auto gang = gangOf(before)) {
    Pods& pods = pods_[*gang];
    pods.arriving.erase(before->key);
    for (auto* each : {&pods.members, &pods.ended}) each->erase(before->key);
    if (pods.arriving.empty() && pods.members.empty() && pods.ended.empty()) pods_.erase(*gang);
    mark(*gang);
  }
  if (const auto gang = gangOf(after)) {
    Pods& pods = pods_[*gang];
    if (after->arrival) {
      pods.arriving.insert(after->key);
    } else {
      (after->finished() ? pods.ended : pods.members).emplace(after->key, after->gangUid);
    }
    mark(*gang);
  }
}

void GangsKeeper::mark(const model::ObjectKey& gang) {
  if (!started_) return;
  marked_.insert(gang);
  if (std::exchange(scheduled_, true)) return;
  deps_.executor.post([this, alive = alive_] {
    if (*alive) reconcileMarked();
  });
}

void GangsKeeper::reconcileMarked() {
  scheduled_ = false;
  if (!deps_.leading()) return;
  for (const model::ObjectKey& key : std::exchange(marked_, {})) reconcile(key);
}

void GangsKeeper::reconcile(const model::ObjectKey& key) {
  if (busy_.contains(key)) return;  // done() marks it again
  const auto known = pods_.find(key);
  const Pods pods = known == pods_.end() ? Pods{} : known->second;
  const auto gang = deps_.cache.jobs.gangs.find(key);
  if (!gang) {
    idleSince_.erase(key);
    if (!pods.arriving.empty() && isOfBarePods(key.name)) create(key, pods);
    return;
  }
  // A Gang that users made is theirs to delete; one of another owner goes with it.
  if (gang->deleting || !gang->owner->uid.empty()) return;
  if (!gang->finished()) reportWithoutPlace(*gang, pods);
  if (gang->owner->apiVersion.empty()) return;
  if (!isIdle(*gang, pods) && !(gang->finished() && !pods.arriving.empty())) {
    idleSince_.erase(key);
    return;
  }
  const base::Instant now = deps_.executor.now();
  const base::Instant since = idleSince_.try_emplace(key, now).first->second;
  // Pods that wait, and that this Gang can never take, get another one.
  if (gang->finished() || !pods.arriving.empty() || now - since >= kKeptWithoutPods) return remove(*gang);
  deps_.executor.postAfter(since + kKeptWithoutPods - now, [this, key, alive = alive_] {
    if (*alive) mark(key);
  });
}

// A Gang that has ended stays as long as its pods do. One that waits, and whose pods have all ended, would
// wait for ever.
bool GangsKeeper::isIdle(const model::Gang& gang, const Pods& pods) const {
  const auto areOfGang = [&](const auto& each) { return each.second == gang.uid; };
  const bool waits =
      std::any_of(pods.arriving.begin(), pods.arriving.end(), [&](const model::ObjectKey& each) {
        const auto pod = deps_.cache.pods.find(each);
        // The set of a group describes its pods, and would describe the same Gang again.
        return !pod || !pod->arrival || gang.key.name.ends_with(kOfGroup) || core::isOfRole(*pod, gang.spec);
      });
  return !waits && std::none_of(pods.members.begin(), pods.members.end(), areOfGang) &&
         (!gang.finished() || std::none_of(pods.ended.begin(), pods.ended.end(), areOfGang));
}

void GangsKeeper::create(const model::ObjectKey& key, const Pods& pods) {
  busy_.insert(key);
  const model::ObjectKey first = *pods.arriving.begin();
  deps_.api.get(kube::kPods.object(first.ns, first.name),
                [this, key, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                  if (!*alive) return;
                  if (!answer) return done(key, false);
                  createFrom(key, answer->body);
                });
}

// The Event is on the first pod that asks for the Gang.
void GangsKeeper::refuse(const model::ObjectKey& gang, const base::Error& why) {
  const auto known = pods_.find(gang);
  const auto pod = known == pods_.end() || known->second.arriving.empty()
                       ? nullptr
                       : deps_.cache.pods.find(*known->second.arriving.begin());
  if (pod == nullptr) return done(gang, false);
  deps_.events.recordOn(
      {.apiVersion = "v1", .kind = "Pod", .ns = pod->key.ns, .name = pod->key.name, .uid = pod->uid.str()},
      {true, "InvalidGang", why.message});
  done(gang, false);
}

// Without names of roles all pods are alike, and one is enough to describe the gang. With names all pods have
// to be there, because nothing else says how many each role has.
void GangsKeeper::createFrom(const model::ObjectKey& key, const std::string& pod) {
  const auto request = codec::readGangRequest(pod);
  if (!request) return refuse(key, request.error());
  const auto known = pods_.find(key);
  if (known == pods_.end()) return done(key, true);
  auto draft = std::make_shared<Draft>();
  draft->gang = key;
  if (!request->leaderWorkerSet.empty() || !request->podGroup.empty()) return draftFrom(draft, *request, pod);
  std::map<std::string, std::vector<model::ObjectKey>> roles;
  for (const model::ObjectKey& each : known->second.arriving) {
    if (const auto arrived = deps_.cache.pods.find(each); arrived && arrived->arrival)
      roles[arrived->arrival->role].push_back(each);
  }
  if (!request->namesRole && roles.size() == 1) {
    draft->roles.push_back({roles.begin()->first, request->size, pod});
    return post(*draft);
  }
  if (known->second.arriving.size() < static_cast<std::size_t>(request->size)) {
    busy_.erase(key);  // the next pod marks it
    return;
  }
  for (const auto& [role, pods] : roles) {
    draft->roles.push_back({role, static_cast<int>(pods.size()), {}});
    draft->samples.push_back(pods.front());
  }
  readSamples(draft, 0);
}

// The pods may not all be there before some run, so another object says how many there will be.
void GangsKeeper::draftFrom(const std::shared_ptr<Draft>& draft, const codec::GangRequest& request,
                            const std::string& pod) {
  const std::string& ns = draft->gang.ns;
  if (!request.leaderWorkerSet.empty())
    return askFor(draft,
                  {"LeaderWorkerSet", request.leaderWorkerSet,
                   kLeaderWorkerSets.object(ns, request.leaderWorkerSet), codec::rolesOfLeaderWorkerSet});
  const std::string version = deps_.podGroupVersion();
  if (version.empty()) return done(draft->gang, false);  // not yet known
  const kube::ResourceType podGroups{"scheduling.k8s.io", version, "podgroups"};
  askFor(draft, {"PodGroup", request.podGroup, podGroups.object(ns, request.podGroup),
                 [pod](std::string_view group) -> base::Result<std::vector<codec::RoleOfPods>> {
                   const auto size = codec::sizeOfPodGroup(group);
                   if (!size) return base::fail(size.error());
                   return std::vector<codec::RoleOfPods>{{std::string(codec::kDefaultGangRole), *size, pod}};
                 }});
}

void GangsKeeper::askFor(const std::shared_ptr<Draft>& draft, Description description) {
  const std::string path = description.path;
  deps_.api.get(path, [this, draft, description = std::move(description),
                       alive = alive_](const base::Result<kube::ApiResponse>& answer) {
    if (!*alive) return;
    if (!answer) {
      const bool isForbidden = answer.error().code == ErrorCode::kForbidden;
      const std::string remedy =
          isForbidden ? fmt::format(" (add {} to the chart's workloads.kinds)", description.kind) : "";
      return refuse(draft->gang, base::Error{answer.error().code,
                                             fmt::format("{} {} cannot be read{}: {}", description.kind,
                                                         description.name, remedy, answer.error().message)});
    }
    auto roles = description.read(answer->body);
    if (!roles) return refuse(draft->gang, roles.error());
    draft->roles = *std::move(roles);
    post(*draft);
  });
}

void GangsKeeper::readSamples(const std::shared_ptr<Draft>& draft, std::size_t next) {
  if (next == draft->samples.size()) return post(*draft);
  const model::ObjectKey& pod = draft->samples[next];
  deps_.api.get(kube::kPods.object(pod.ns, pod.name),
                [this, draft, next, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                  if (!*alive) return;
                  if (!answer) return done(draft->gang, false);
                  draft->roles[next].pod = answer->body;
                  readSamples(draft, next + 1);
                });
}

void GangsKeeper::post(const Draft& draft) {
  const auto body = codec::encodeGangOfPods(draft.gang, draft.roles);
  if (!body) return refuse(draft.gang, body.error());
  deps_.api.create(kube::kGangs.collection(draft.gang.ns), *body,
                   [this, key = draft.gang, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                     if (!*alive) return;
                     if (answer) deps_.cache.jobs.applyWrite(answer->body, kube::WriteKind::kCreate);
                     // The watch will bring a Gang that exists.
                     const bool exists = !answer && answer.error().code == ErrorCode::kAlreadyExists;
                     if (!answer && answer.error().code == base::ErrorCode::kInvalid)
                       return refuse(key, answer.error());
                     if (!answer && !exists)
                       deps_.log.warning(
                           "a Gang could not be created",
                           {{"gang", key.name}, {"namespace", key.ns}, {"error", answer.error().message}});
                     done(key, answer.has_value());
                   });
}

// Records an Event on each pod beyond the gang's size, and on each that requests more than its role has.
void GangsKeeper::reportWithoutPlace(const model::Gang& gang, const Pods& pods) {
  const auto report = [&](const model::Pod& pod, const std::string& why) {
    model::Uid& reported = reported_[pod.key];
    if (std::exchange(reported, pod.uid) == pod.uid) return;
    deps_.events.recordOn(
        {.apiVersion = "v1", .kind = "Pod", .ns = pod.key.ns, .name = pod.key.name, .uid = pod.uid.str()},
        {true, "NoPlace", why});
  };
  std::map<std::string, int> left;
  for (const model::Role& role : gang.spec.roles) left[role.name] = role.replicas;
  for (const auto& [key, uid] : pods.members) {
    const auto member = deps_.cache.pods.find(key);
    if (uid == gang.uid && member && member->member) --left[member->member->role];
  }
  std::vector<PodPtr> arriving;
  for (const model::ObjectKey& key : pods.arriving) {
    if (auto pod = deps_.cache.pods.find(key); pod && pod->arrival) arriving.push_back(std::move(pod));
  }
  std::stable_sort(arriving.begin(), arriving.end(),
                   [](const PodPtr& a, const PodPtr& b) { return a->created < b->created; });
  for (const PodPtr& pod : arriving) {
    const std::string& role = pod->arrival->role;
    if (pod->terminating || !pod->otherGate.empty()) continue;
    if (gang.spec.findRole(role) == nullptr) {
      report(*pod, fmt::format("Gang {} has no role {}", gang.key.name, role));
    } else if (!core::isOfRole(*pod, gang.spec)) {
      report(*pod,
             fmt::format("it requests more than Gang {} has for a pod of role {}", gang.key.name, role));
    } else if (left[role]-- <= 0) {
      report(*pod, fmt::format("Gang {} has all its pods of role {}", gang.key.name, role));
    }
  }
}

void GangsKeeper::remove(const model::Gang& gang) {
  busy_.insert(gang.key);
  kube::DeleteOptions options;
  options.uid = gang.uid.str();
  deps_.api.remove(
      kube::kGangs.object(gang.key.ns, gang.key.name), options,
      [this, key = gang.key, uid = gang.uid, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (!*alive) return;
        const bool gone = !answer && answer.error().code == ErrorCode::kNotFound;
        if (gone) deps_.cache.jobs.forget(key, uid.str());
        if (answer) deps_.cache.jobs.applyDeletion(key, uid.str(), answer->body);
        done(key, answer.has_value() || gone);
      });
}

// What changed meanwhile is looked at again; after a failure, later.
void GangsKeeper::done(const model::ObjectKey& key, bool good) {
  busy_.erase(key);
  if (good) return mark(key);
  deps_.executor.postAfter(kTryAgain, [this, key, alive = alive_] {
    if (*alive) mark(key);
  });
}

}  // namespace trainyard::operator_
