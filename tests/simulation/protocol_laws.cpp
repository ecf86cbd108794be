#include "simulation/protocol_laws.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/job.h"
#include "model/names.h"
#include "sim/api/paths.h"

namespace trainyard::simulation {
namespace {

// Longer than the lag of any view, and than any request in flight that was not deliberately delayed.
constexpr base::Instant::duration kLongestLag = std::chrono::seconds(12);

constexpr base::Instant::duration kLongestMistake = std::chrono::milliseconds(10'500);

bool isMember(const model::Pod& pod) {
  return pod.controllerKind == model::names::kTrainingJobKind && pod.member.has_value();
}

const model::NodeName* placeOf(const std::vector<model::Assignment>& assignments,
                               const model::MemberLabels& labels) {
  for (const model::Assignment& each : assignments) {
    if (each.role == labels.role && each.indices.contains(labels.index)) return &each.node;
  }
  return nullptr;
}

// Returns the node that the record assigns to this member; null if the record does not name it.
const model::NodeName* placeInRecord(const model::GangRecord& gang, const model::MemberLabels& labels) {
  if (gang.proposal && gang.proposal->epoch == labels.epoch) {
    if (const auto* place = placeOf(gang.proposal->add, labels)) return place;
  }
  if (!gang.placed) return nullptr;
  for (const model::Assignment& each : gang.placed->assignments) {
    const bool names = each.role == labels.role && each.indices.contains(labels.index);
    if (names && gang.placed->epochOf(each) == labels.epoch) return &each.node;
  }
  return nullptr;
}

// Returns true if a single-pod job's pod represents a record that is not written yet. `wasOfOne`: it was one
// before a recent edit.
bool isOwnRecord(const model::Job& job, const model::Pod& pod, bool wasOfOne) {
  const model::GangRecord& gang = job.status.gang;
  const bool ofOne =
      wasOfOne || job.spec.totalReplicas() == 1 || job.spec.elastic;  // or was, before it was scaled
  return !gang.proposal && !gang.placed && ofOne && pod.pinned && pod.member->epoch == gang.lastEpoch + 1;
}

std::string boundKey(const model::Uid& job, std::int64_t epoch, const std::string& pod) {
  return fmt::format("{}/{}/{}", job, epoch, pod);
}

}  // namespace

ProtocolLaws::ProtocolLaws(sim::ClusterObserver& truth, base::Executor& executor)
    : truth_(truth),
      executor_(executor),
      claims_(truth, executor, [this](std::string what) { violated(std::move(what)); }),
      failures_([this](std::string what) { violated(std::move(what)); }),
      resizes_(truth, executor, [this](std::string what) { violated(std::move(what)); }),
      owned_(truth, executor, [this](std::string what) { violated(std::move(what)); }) {
  truth_.cache().jobs.onChange(
      [this](const JobPtr& before, const JobPtr& after) { jobChanged(before, after); });
  truth_.cache().pods.onChange(
      [this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
  truth_.cache().nodes.onChange(
      [this](const NodePtr& before, const NodePtr& after) { nodeChanged(before, after); });
}

bool ProtocolLaws::wasOfOne(const model::Job& job) const {
  const auto enlarged = enlargedAt_.find(job.uid);
  return enlarged != enlargedAt_.end() && executor_.now() - enlarged->second < kLongestLag;
}

void ProtocolLaws::violated(std::string what) {
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(executor_.now().time_since_epoch());
  if (violations_.size() < 20) violations_.push_back(fmt::format("{} ms: {}", at.count(), what));
}

// --- the record
// -----------------------------------------------------------------------------------------------------

void ProtocolLaws::jobChanged(const JobPtr& before, const JobPtr& after) {
  if (before && after && before->uid == after->uid) {
    if (before->spec.totalReplicas() == 1 && after->spec.totalReplicas() > 1)
      enlargedAt_[after->uid] = executor_.now();
    failures_.check(*before, *after);
    resizes_.checkRecord(*before, *after);
    return checkRecord(*before, *after);
  }
  // A single-pod job has no finalizer and is deleted with its owner.
  if (before && before->owner != nullptr) return;  // OwnedLaws
  if (!before || !before->hasReleaseFinalizer) return;
  for (const PodPtr& pod : truth_.cache().pods.all()) {
    const bool runs = pod->controllerUid == before->uid && pod->bound() && !pod->finished();
    if (runs && !late_.contains(pod->key.name)) {
      violated(fmt::format("job {} is gone while its pod {} runs on {}", before->key, pod->key, pod->node));
    }
  }
}

void ProtocolLaws::checkRecord(const model::Job& before, const model::Job& after) {
  const model::GangRecord& was = before.status.gang;
  const model::GangRecord& is = after.status.gang;
  if (was == is) return;
  if (is.lastEpoch < was.lastEpoch) {
    violated(fmt::format("job {}: epochs went back from {} to {}", after.key, was.lastEpoch, is.lastEpoch));
  }
  const bool same = was.proposal && is.proposal && was.proposal->epoch == is.proposal->epoch;
  if (same && was.proposal->add != is.proposal->add) {
    violated(fmt::format("job {}: the places of proposal {} changed", after.key, is.proposal->id));
  }
  if (is.proposal && !same) {
    if (is.proposal->epoch != was.lastEpoch + 1) {
      violated(
          fmt::format("job {}: proposal {} follows epoch {}", after.key, is.proposal->id, was.lastEpoch));
    }
    // A claim may preempt a gang that has a proposal.
    const bool isPreempted = after.status.preemptions.count > before.status.preemptions.count;
    if (was.proposal && !isPreempted)
      violated(fmt::format("job {}: proposal {} was overwritten", after.key, was.proposal->id));
  }
  if (after.owner != nullptr) return;  // OwnedLaws
  if (same && was.proposal->phase == model::ProposalPhase::kClaiming &&
      is.proposal->phase == model::ProposalPhase::kReserved) {
    checkClaimed(after, *is.proposal);
  }
  if (!was.proposal && is.placed && is.placed != was.placed) checkMerged(after, *is.placed);
  if (!was.proposal || is.proposal) return;
  const bool aborted = was.proposal->phase == model::ProposalPhase::kAborting;
  const bool withdrawn =
      was.proposal->movesFor && is.placed && was.placed->assignments == is.placed->assignments;
  if (aborted || withdrawn || was.proposal->add.empty()) return checkDropped(after, *was.proposal);
  checkMerged(after, *was.proposal);
}

// Checks a single-pod job without any record before its pod was bound.
void ProtocolLaws::checkMerged(const model::Job& job, const model::Placed& placed) {
  for (const model::Assignment& each : placed.assignments) {
    for (const int index : each.indices.values()) {
      const std::string pod = model::podName(job.key.name, each.role, index);
      if (everBound_.contains(boundKey(job.uid, placed.epochOf(each), pod))) continue;
      violated(fmt::format("job {}: became placed, but {} was never bound", job.key, pod));
    }
  }
}

void ProtocolLaws::checkMerged(const model::Job& job, const model::Proposal& proposal) {
  for (const model::Assignment& each : proposal.add) {
    for (const int index : each.indices.values()) {
      const std::string pod = model::podName(job.key.name, each.role, index);
      if (everBound_.contains(boundKey(job.uid, proposal.epoch, pod))) continue;
      violated(fmt::format("job {}: proposal {} became placed, but {} was never bound", job.key, proposal.id,
                           pod));
    }
  }
}

// The removed members and victims are gone before the nodes of their successors are used.
void ProtocolLaws::checkClaimed(const model::Job& job, const model::Proposal& proposal) {
  if (!job.status.gang.placed) return;
  for (const PodPtr& pod : truth_.cache().pods.all()) {
    if (!isMember(*pod) || pod->controllerUid != job.uid || pod->member->epoch == proposal.epoch) continue;
    if (late_.contains(pod->key.name) || placeOf(proposal.remove, *pod->member) == nullptr) continue;
    violated(
        fmt::format("job {}: proposal {} was reserved before {} was gone", job.key, proposal.id, pod->key));
  }
}

void ProtocolLaws::checkDropped(const model::Job& job, const model::Proposal& proposal) {
  for (const PodPtr& pod : truth_.cache().pods.all()) {
    const bool left = isMember(*pod) && pod->controllerUid == job.uid &&
                      pod->member->epoch == proposal.epoch && !late_.contains(pod->key.name);
    if (left)
      violated(fmt::format("job {}: proposal {} ended before its pod {} was gone", job.key, proposal.id,
                           pod->key.name));
  }
}

// --- members
// --------------------------------------------------------------------------------------------------------

void ProtocolLaws::podChanged(const PodPtr& before, const PodPtr& after) {
  const bool lost =
      before && isMember(*before) && (!after || after->uid != before->uid || after->terminating);
  if (lost) podLost_[before->controllerUid] = executor_.now();
  if (!after || !isMember(*after)) return;
  const bool fresh = !before || before->uid != after->uid;
  if (after->bound())
    everBound_.insert(boundKey(after->controllerUid, after->member->epoch, after->key.name));
  if (fresh && after->gangGated) checkCreated(*after);
  const bool released = !after->gangGated && (fresh || before->gangGated);
  if (released && !after->terminating) checkRelease(*after, fresh);
}

void ProtocolLaws::checkCreated(const model::Pod& pod) {
  const auto job = truth_.cache().jobs.find({pod.key.ns, pod.member->jobName});
  if (!job || job->uid != pod.controllerUid) return;
  if (!job->hasReleaseFinalizer) {
    violated(fmt::format("pod {} was created before its job had the finalizer", pod.key));
  }
  if (late_.contains(pod.key.name) || placeInRecord(job->status.gang, *pod.member) != nullptr) return;
  violated(fmt::format("pod {} of epoch {} was created, but the record does not name it", pod.key,
                       pod.member->epoch));
}

void ProtocolLaws::checkRelease(const model::Pod& pod, bool born) {
  if (late_.contains(pod.key.name)) return;
  const auto job = truth_.cache().jobs.find({pod.key.ns, pod.member->jobName});
  if (!job || job->uid != pod.controllerUid) {
    // A single-pod job's pod has no gate; its creation may cross the deletion of its owner.
    if (!born) violated(fmt::format("pod {} was let go although its job is gone", pod.key));
    return;
  }
  const model::NodeName* place = placeInRecord(job->status.gang, *pod.member);
  if (place == nullptr && born && isOwnRecord(*job, pod, wasOfOne(*job))) return;
  if (place == nullptr) {
    return violated(fmt::format("pod {} of epoch {} was let go, but the record does not name it", pod.key,
                                pod.member->epoch));
  }
  if (!pod.pinned || *pod.pinned != *place) {
    violated(fmt::format("pod {} was let go to {}, its place is on {}", pod.key,
                         pod.pinned ? pod.pinned->str() : "any node", *place));
  }
  const auto& proposal = job->status.gang.proposal;
  if (proposal && proposal->epoch == pod.member->epoch) {
    checkAllExist(*job, *proposal, pod);
    if (!born) checkOpen(*job, *proposal, pod);
  }
  checkNode(*place, pod);
}

void ProtocolLaws::checkAllExist(const model::Job& job, const model::Proposal& proposal,
                                 const model::Pod& pod) {
  const auto lost = podLost_.find(job.uid);
  if (lost != podLost_.end() && executor_.now() - lost->second < kLongestLag * 3) return;
  for (const model::Assignment& each : proposal.add) {
    for (const int index : each.indices.values()) {
      const model::ObjectKey key{job.key.ns, model::podName(job.key.name, each.role, index)};
      if (truth_.cache().pods.find(key) || key == pod.key) continue;
      violated(fmt::format("pod {} was let go before {} existed", pod.key, key.name));
    }
  }
}

// A leader that gets no update of a node for longer than this has lost its Lease.
void ProtocolLaws::checkOpen(const model::Job& job, const model::Proposal& proposal, const model::Pod& pod) {
  const base::Instant now = executor_.now();
  if (now < nodesLateUntil_) return;
  for (const PodPtr& other : truth_.cache().pods.all()) {
    const bool before = isMember(*other) && other->controllerUid == job.uid && other->uid != pod.uid &&
                        other->member->epoch == proposal.epoch && !other->gangGated;
    if (before) return;
  }
  for (const model::Assignment& each : proposal.add) {
    const auto closed = closedSince_.find(each.node);
    if (closed == closedSince_.end() || now - closed->second < kLongestMistake) continue;
    violated(fmt::format("pod {} was let go although {} of its gang's places has long been closed", pod.key,
                         each.node));
  }
}

void ProtocolLaws::checkNode(const model::NodeName& node, const model::Pod& pod) {
  const auto built = builtWith_.find(node);
  if (built == builtWith_.end()) return;
  std::int64_t gpus = 0;
  for (const PodPtr& each : truth_.cache().pods.all()) {
    if (!isMember(*each) || each->gangGated || each->finished() || late_.contains(each->key.name)) continue;
    if (!each->bound() && unbelieved_.contains(each->uid)) continue;
    const bool there = each->bound() ? each->node == node : each->pinned && *each->pinned == node;
    if (there) gpus += each->shape.requests.gpus();
  }
  if (gpus <= built->second) return;
  violated(fmt::format("with pod {} the members let go to {} ask for {} GPUs of {}", pod.key, node, gpus,
                       built->second));
}

void ProtocolLaws::nodeChanged(const NodePtr& before, const NodePtr& after) {
  const model::NodeName& name = (after ? after : before)->name;
  if (after) builtWith_.try_emplace(name, after->allocatable.gpus());
  if (after && after->ready && !after->unschedulable) {
    closedSince_.erase(name);
  } else {
    closedSince_.try_emplace(name, executor_.now());
  }
  if (after && after->ready) {
    if (notReadySince_.erase(name) != 0) readyAgainSince_[name] = executor_.now();
  } else {
    notReadySince_.try_emplace(name, executor_.now());
  }
}

// --- writers
// -----------------------------------------------------------------------------------------------------

void ProtocolLaws::sends(const std::string& client, Step step, const net::HttpRequest& request) {
  const bool lease = step == Step::kMakeLease || step == Step::kRenewLease;
  if (request.method == net::Method::kGet || lease) return;
  if (!holder_.empty() && holder_ != client) {
    violated(fmt::format("{} writes ({}) while {} holds the Lease", client, toString(step), holder_));
  }
  if (step == Step::kForceDelete) checkForce(request);
  claims_.sends(step, request);
  owned_.sends(step, request);
  resizes_.sends(step, request);
  const bool deletes = request.method == net::Method::kDelete;
  if (deletes && request.body.find("\"uid\"") == std::string::npos) {
    violated(fmt::format("{} deletes {} under whatever uid", client, request.target));
  }
}

void ProtocolLaws::checkForce(const net::HttpRequest& request) {
  const auto path = sim::parseTarget(request.target);
  const auto pod = path ? truth_.cache().pods.find({path->space, path->name}) : nullptr;
  if (!pod) return;
  if (!pod->bound()) return;
  const auto node = truth_.cache().nodes.find(pod->node);
  const bool outOfService =
      node && std::any_of(node->taints.begin(), node->taints.end(),
                          [](const auto& taint) { return taint.key == "node.kubernetes.io/out-of-service"; });
  if (!node || outOfService || notReadySince_.contains(pod->node)) return;
  // The update that the node is back may still be in flight.
  const auto back = readyAgainSince_.find(pod->node);
  if (back != readyAgainSince_.end() && executor_.now() - back->second < kLongestLag) return;
  violated(fmt::format("pod {} is deleted by force although {} is well", pod->key, pod->node));
}

void ProtocolLaws::comesLate(Step step, const net::HttpRequest& request) {
  claims_.comesLate(step);
  owned_.comesLate(step, request);
  if (step == Step::kListNodes || step == Step::kWatchNodes)
    nodesLateUntil_ = executor_.now() + kLongestLag * 3;
  if (step != Step::kCreateMember) return;
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (body.is_object()) late_.insert(body["metadata"].value("name", ""));
}

void ProtocolLaws::answered(const net::HttpRequest& request, const net::HttpResponse& response) {
  if (request.method == net::Method::kGet || response.status / 100 != 2) return;
  resizes_.answered(request, response);
  if (request.target.find("/leases") == std::string::npos) return;
  const auto lease = nlohmann::json::parse(response.body, nullptr, false);
  if (!lease.is_object() || !lease.contains("spec")) return;
  const std::string before = std::exchange(holder_, lease["spec"].value("holderIdentity", ""));
  if (before == holder_) return;
  for (const PodPtr& each : truth_.cache().pods.all()) {
    if (!isMember(*each) || each->gangGated || each->bound()) continue;
    const auto job = truth_.cache().jobs.find({each->key.ns, each->member->jobName});
    if (job && isOwnRecord(*job, *each, wasOfOne(*job))) unbelieved_.insert(each->uid);
  }
}

}  // namespace trainyard::simulation
