#include <algorithm>

#include <fmt/format.h>

#include "model/member_of.h"
#include "simulation/world.h"

namespace trainyard::simulation {
namespace {

constexpr const char* kOwnerPatch = "application/merge-patch+json";

std::string pathOf(const JobPlan& plan) {
  return plan.owner == OwnerPlan::kJob
             ? fmt::format("/apis/batch/v1/namespaces/default/jobs/{}", plan.name)
             : fmt::format("/apis/apps/v1/namespaces/default/replicasets/{}", plan.name);
}

}  // namespace

void World::strikeOwner(const JobPlan& plan, const TroublePlan& trouble) {
  const std::uint64_t bits = trouble.pick / std::max<std::size_t>(scenario_.jobs.size(), 1);
  const bool byField = plan.owner == OwnerPlan::kJob && bits % 2 == 0;
  const auto suspend = [&](bool on) {
    if (!byField) return holdGang(plan, on);
    static_cast<void>(cluster_->request(net::Method::kPatch, pathOf(plan),
                                        fmt::format(R"({{"spec":{{"suspend":{}}}}})", on), kOwnerPatch));
  };
  switch (trouble.kind) {
    case Trouble::kDeleteJob: return deleteOwner(plan);
    case Trouble::kRecreateJob:
      deleteOwner(plan);
      cluster_->loop().postAfter(std::chrono::milliseconds(bits % 3'000), [this, &plan] { submit(plan); });
      return;
    case Trouble::kSuspendJob: return suspend(true);
    case Trouble::kResumeJob: return suspend(false);
    case Trouble::kHoldGang: return holdGang(plan, true);
    case Trouble::kReleaseGang: return holdGang(plan, false);
    case Trouble::kScaleJob:
    case Trouble::kScaleOwner: return scaleOwner(plan, trouble.amount);
    case Trouble::kDeleteMember: return deleteOwnedPod(plan, bits);
    case Trouble::kMemberKubeletDown:
      for (const auto& pod : ownedPods(plan)) {
        if (pod->bound()) return cluster_->kubelets().setUp(pod->node, false);
      }
      return;
    default: return;
  }
}

void World::holdGang(const JobPlan& plan, bool on) {
  if (const JobPtr gang = jobOf(plan); gang && gang->spec.run.suspend != on)
    static_cast<void>(cluster_->request(
        net::Method::kPatch,
        fmt::format("/apis/trainyard.dev/v1alpha1/namespaces/default/gangs/{}", plan.gangName()),
        fmt::format(R"({{"spec":{{"hold":{}}}}})", on), kOwnerPatch));
}

// The number of completions of a Job may change only with its parallelism.
void World::scaleOwner(const JobPlan& plan, int pods) {
  const std::string patch = plan.owner == OwnerPlan::kJob
                                ? fmt::format(R"({{"spec":{{"completions":{},"parallelism":{}}}}})",
                                              std::max(pods, 1), std::max(pods, 1))
                                : fmt::format(R"({{"spec":{{"replicas":{}}}}})", pods);
  static_cast<void>(cluster_->request(net::Method::kPatch, pathOf(plan), patch, kOwnerPatch));
}

void World::deleteOwner(const JobPlan& plan) {
  static_cast<void>(cluster_->request(net::Method::kDelete, pathOf(plan)));
}

std::vector<std::shared_ptr<const model::Pod>> World::ownedPods(const JobPlan& plan) const {
  std::vector<std::shared_ptr<const model::Pod>> owned;
  for (const auto& pod : truth().pods.all()) {
    const bool isOwned = pod->controllerKind == "Job" || pod->controllerKind == "ReplicaSet";
    if (isOwned && pod->key.name.starts_with(plan.name + "-")) owned.push_back(pod);
  }
  return owned;
}

void World::deleteOwnedPod(const JobPlan& plan, std::uint64_t pick) {
  const auto pods = ownedPods(plan);
  if (pods.empty()) return;
  const model::Pod& pod = *pods[pick % pods.size()];
  laws_->deletedByUser(pod.uid);
  static_cast<void>(
      cluster_->request(net::Method::kDelete, "/api/v1/namespaces/default/pods/" + pod.key.name));
}

// Every owner has ended whose gang fits, every Gang has an owner, and only pods wait whose gang does not fit.
bool World::ownersAtRest() const {
  const auto& owners = cluster_->observer().owners();
  for (const auto& each : owners.all()) {
    const auto gang = job(each->gangName);
    if (each->owner.end == model::OwnerEnd::kNone && (!gang || (fits(*gang) && mayEver(*gang)))) return false;
  }
  const auto& pods = truth().pods.all();
  for (const auto& gang : truth().jobs.gangs.all()) {
    const bool named = std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
      return pod->gangUid == gang->uid || (pod->arrival && pod->arrival->gang == gang->key.name);
    });
    if (gang->owner->uid.empty() && !named) return false;
    const auto owner = owners.find({gang->key.ns, gang->owner->name});
    if (!gang->owner->uid.empty() && (!owner || owner->uid != gang->owner->uid)) return false;
  }
  return std::all_of(truth().pods.all().begin(), truth().pods.all().end(), [&](const auto& pod) {
    if (!pod->arrival) return true;
    const auto gang = job(pod->arrival->gang);
    return gang && !gang->finished() && !(fits(*gang) && mayEver(*gang));
  });
}

}  // namespace trainyard::simulation
