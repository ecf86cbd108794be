#include "simulation/resize_laws.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/gang/gang_proposals.h"
#include "model/membership.h"
#include "sim/api/paths.h"

namespace trainyard::simulation {
namespace {

using Json = nlohmann::json;
using model::ProposalKind;
using Assignments = std::vector<model::Assignment>;

std::vector<int> indicesOf(const Assignments& assignments, const std::string& role) {
  std::vector<int> indices;
  for (const model::Assignment& each : assignments) {
    if (each.role == role)
      indices.insert(indices.end(), each.indices.values().begin(), each.indices.values().end());
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

bool isRun(const std::vector<int>& indices, int first) {
  for (const int index : indices) {
    if (index != first++) return false;
  }
  return true;
}

int sizeOf(const model::Job& job) {
  const auto& placed = job.status.gang.placed;
  return placed ? static_cast<int>(indicesOf(placed->assignments, job.spec.elastic->role).size()) : 0;
}

bool changesSize(const model::Proposal& proposal) {
  return proposal.kind == ProposalKind::kGrow || proposal.kind == ProposalKind::kShrink;
}

}  // namespace

ResizeLaws::ResizeLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated)
    : truth_(truth), executor_(executor), violated_(std::move(violated)) {}

void ResizeLaws::checkRecord(const model::Job& before, const model::Job& after) {
  const model::GangRecord& was = before.status.gang;
  const model::GangRecord& is = after.status.gang;
  if (was == is || !after.spec.elastic || !before.spec.elastic) return;
  if (is.placed) checkIndices(after);
  const bool isNew = is.proposal && (!was.proposal || was.proposal->epoch != is.proposal->epoch);
  if (isNew && changesSize(*is.proposal)) checkProposal(after);
  if (was.placed && is.placed) checkSize(before, after);
  if (was.proposal && was.proposal->kind == ProposalKind::kGrow && !is.proposal && is.placed &&
      was.placed->assignments != is.placed->assignments)
    checkAllNotified(before, after);
}

void ResizeLaws::checkIndices(const model::Job& job) {
  for (const model::Role& role : job.spec.roles) {
    if (isRun(indicesOf(job.status.gang.placed->assignments, role.name), 0)) continue;
    violated_(fmt::format("job {}: the placed members of role {} are not 0 to n - 1, each once", job.key,
                          role.name));
  }
}

void ResizeLaws::checkProposal(const model::Job& job) {
  const model::Proposal& proposal = *job.status.gang.proposal;
  const std::string& role = job.spec.elastic->role;
  const bool grows = proposal.kind == ProposalKind::kGrow;
  const int has = sizeOf(job);
  const std::vector<int> changed = indicesOf(grows ? proposal.add : proposal.remove, role);
  const int count = static_cast<int>(changed.size());
  const auto ofOthers = [&](const Assignments& assignments) {
    return std::any_of(assignments.begin(), assignments.end(),
                       [&](const auto& each) { return each.role != role; });
  };
  const bool sound = count > 0 && isRun(changed, grows ? has : has - count) && (grows || count < has) &&
                     !ofOthers(proposal.add) && !ofOthers(proposal.remove) &&
                     (grows ? proposal.remove : proposal.add).empty();
  if (!sound)
    violated_(fmt::format("job {}: proposal {} does not change the last members", job.key, proposal.id));
}

void ResizeLaws::checkSize(const model::Job& before, const model::Job& after) {
  const int was = sizeOf(before);
  const int is = sizeOf(after);
  if (was == is) return;
  const auto& proposal = before.status.gang.proposal;
  // A gang that is preempted while it changes: what it may have released is removed with the rest.
  const auto& then = after.status.gang.proposal;
  if (proposal && then && then->kind == ProposalKind::kRestart && then->add.empty()) {
    model::Job merged = before;
    merged.status.gang = core::mergeProposal(before);
    if (sizeOf(merged) == is) return;
  }
  if (!proposal || proposal->phase == model::ProposalPhase::kAborting || after.status.gang.proposal)
    return violated_(
        fmt::format("job {}: its size went from {} to {} without a proposal", after.key, was, is));
  const std::string& role = after.spec.elastic->role;
  const int adds = static_cast<int>(indicesOf(proposal->add, role).size());
  const int removes = static_cast<int>(indicesOf(proposal->remove, role).size());
  const bool whole = proposal->kind == ProposalKind::kRestart;
  if (is == (whole ? adds : was + adds - removes)) return;
  violated_(fmt::format("job {}: after {} it has neither its old size, {}, nor the new one, but {}",
                        after.key, proposal->id, was, is));
}

void ResizeLaws::checkAllNotified(const model::Job& before, const model::Job& after) {
  // A job that is being deleted gets no further membership.
  if (!model::readsMembership(after.spec) || after.deleting) return;
  const model::GangRecord& was = before.status.gang;
  if (was.proposal->phase == model::ProposalPhase::kAborting) return;
  for (const auto& pod : truth_.cache().pods.all()) {
    const bool old = pod->controllerUid == after.uid && pod->member && pod->bound() && !pod->finished() &&
                     !pod->terminating && pod->member->epoch != was.proposal->epoch &&
                     pod->member->epoch >= was.placed->epoch;
    if (!old || notified_[pod->uid] >= was.proposal->epoch) continue;
    violated_(fmt::format("job {} has grown, but {} does not know it", after.key, pod->key));
  }
}

void ResizeLaws::sends(Step step, const net::HttpRequest& request) {
  if (step != Step::kDeletePod && step != Step::kNotifyMember) return;
  const auto path = sim::parseTarget(request.target);
  const auto pod = path ? truth_.cache().pods.find({path->space, path->name}) : nullptr;
  if (!pod || !pod->member || pod->finished() || pod->terminating) return;
  if (request.body.find(pod->uid.str()) == std::string::npos) return;
  const auto job = truth_.cache().jobs.find({pod->key.ns, pod->member->jobName});
  if (!job || job->uid != pod->controllerUid || job->deleting || job->spec.run.suspend) return;
  const auto& proposal = job->status.gang.proposal;
  if (step == Step::kNotifyMember) {
    if (proposal) tried_[pod->uid] = proposal->epoch;
    return;
  }
  const bool leaves = proposal && proposal->kind == ProposalKind::kShrink && !proposal->movesFor &&
                      proposal->removes(pod->member->role, pod->member->index) &&
                      pod->member->epoch != proposal->epoch;
  if (!leaves || !model::readsMembership(job->spec)) return;
  // A member that cannot be reached before the deadline does not block the gangs that need its node.
  const bool notifyFailed = tried_[pod->uid] == proposal->epoch && executor_.wallNow() >= proposal->deadline;
  if (notified_[pod->uid] < proposal->epoch && !notifyFailed)
    return violated_(fmt::format("pod {} is deleted before it was notified to leave", pod->key));
  if (executor_.wallNow() < proposal->deadline)
    violated_(fmt::format("pod {} is deleted before its time to leave is over", pod->key));
}

void ResizeLaws::answered(const net::HttpRequest& request, const net::HttpResponse& response) {
  if (request.method != net::Method::kPatch || response.status / 100 != 2) return;
  if (request.body.find(model::kMembershipAnnotation) == std::string::npos) return;
  const Json pod = Json::parse(response.body, nullptr, false);
  if (!pod.is_object()) return;
  const Json& meta = pod["metadata"];
  const Json word =
      Json::parse(meta["annotations"].value(std::string(model::kMembershipAnnotation), ""), nullptr, false);
  if (!word.is_object()) return violated_("a member is notified with something that is no JSON");
  const std::string name = meta.value("name", "");
  std::int64_t& told = notified_[model::Uid(meta.value("uid", ""))];
  const std::int64_t generation = word.value("generation", std::int64_t{0});
  if (generation < told)
    violated_(fmt::format("pod {} is notified of generation {} after {}", name, generation, told));
  told = std::max(told, generation);
  const std::string role = meta["labels"].value("trainyard.dev/role", "");
  const int index = std::stoi(meta["labels"].value("trainyard.dev/index", "0"));
  if (role != word.value("role", "") || index < word.value("size", 0)) return;
  const auto job = truth_.cache().jobs.find(
      {meta.value("namespace", ""), meta["labels"].value("trainyard.dev/job-name", "")});
  if (!job || job->deleting) return;
  const auto& proposal = job->status.gang.proposal;
  // An elastic gang without a node for a lost member replaces it on the node of its last one, which leaves.
  const bool removes = proposal && proposal->removes(role, index);
  const bool leaves =
      removes && (proposal->kind == ProposalKind::kShrink || proposal->kind == ProposalKind::kReplace);
  const bool left = job->status.gang.lastEpoch > generation || !proposal;
  if (!leaves && !left) violated_(fmt::format("pod {} is notified to leave although it stays", name));
}

}  // namespace trainyard::simulation
