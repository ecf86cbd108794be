#include "simulation/protocol_step.h"

#include <nlohmann/json.hpp>

#include "model/membership.h"
#include "model/names.h"
#include "sim/api/paths.h"

namespace trainyard::simulation {
namespace {

using Json = nlohmann::json;
using net::Method;

Step readStep(const sim::ApiPath& path) {
  const bool watch = sim::queryFlag(path.query, "watch");
  if (!path.name.empty() && !watch) {
    if (path.plural == "leases") return Step::kReadLease;
    if (path.plural == "trainingjobs" || path.plural == "gangs") return Step::kReadJob;
    if (path.plural == "pods") return Step::kReadPod;
    return Step::kReadOwned;
  }
  if (path.plural == "nodes") return watch ? Step::kWatchNodes : Step::kListNodes;
  if (path.plural == "pods") return watch ? Step::kWatchPods : Step::kListPods;
  if (path.plural == "trainingjobs") return watch ? Step::kWatchJobs : Step::kListJobs;
  return watch ? Step::kWatchOthers : Step::kListOthers;
}

// The patch holds only the changes, so it is interpreted together with the record that it changes.
Step statusStep(const Json& body, const model::Job* before) {
  static const Json::json_pointer kProposal("/status/gang/proposal");
  if (!body.contains(kProposal)) return Step::kStatusWords;
  const Json& proposal = body.at(kProposal);
  using Phase = model::ProposalPhase;
  const model::Proposal* old =
      before != nullptr && before->status.gang.proposal ? &*before->status.gang.proposal : nullptr;
  const auto was = [&](Phase phase) { return old != nullptr && old->phase == phase; };
  if (proposal.is_null()) return was(Phase::kAborting) ? Step::kDropProposal : Step::kMerge;
  const std::string phase = proposal.value("phase", "");
  if (phase == "Aborting") return Step::kAbort;
  if (phase == "Releasing") return was(Phase::kReleasing) ? Step::kStatusWords : Step::kAllBound;
  if (phase == "Claiming") return Step::kClaim;
  if (phase == "Reserved") return was(Phase::kClaiming) ? Step::kClaimed : Step::kReserve;
  return Step::kStatusWords;
}

Step jobStep(const net::HttpRequest& request, const sim::ApiPath& path, const kube::ClusterCache& truth) {
  const Json body = Json::parse(request.body, nullptr, false);
  if (!body.is_object()) return Step::kOther;
  const auto before = truth.jobs.find({path.space, path.name});
  if (path.subresource == "status") return statusStep(body, before.get());
  static const Json::json_pointer kFinalizers("/metadata/finalizers");
  if (!body.contains(kFinalizers)) return Step::kOther;
  const bool keeps = body.at(kFinalizers).dump().find(model::names::kReleaseFinalizer) != std::string::npos;
  return keeps ? Step::kAddFinalizer : Step::kRemoveFinalizer;
}

Step gangStep(const net::HttpRequest& request, const sim::ApiPath& path, const kube::ClusterCache& truth) {
  if (request.method == Method::kPost) return Step::kCreateGang;
  if (request.method == Method::kDelete) return Step::kDeleteGang;
  const Step step = jobStep(request, path, truth);
  return step == Step::kOther ? Step::kChangeGang : step;
}

// A JSON patch marks the templates, a merge patch stops or starts the owner.
Step ownerStep(const net::HttpRequest& request) {
  const Json body = Json::parse(request.body, nullptr, false);
  if (request.method != Method::kPatch) return Step::kOther;
  if (body.is_array()) return Step::kMarkTemplates;
  static const Json::json_pointer kSuspend("/spec/suspend");
  if (!body.is_object() || !body.contains(kSuspend)) return Step::kOther;
  return body.at(kSuspend) == true ? Step::kSuspendOwner : Step::kStartOwner;
}

Step podStep(const net::HttpRequest& request, const sim::ApiPath& path) {
  if (path.subresource == "eviction") return Step::kEvict;
  if (request.method == Method::kPost) {
    return sim::queryText(path.query, "dryRun").empty() ? Step::kCreateMember : Step::kCheckTemplate;
  }
  if (request.method == Method::kPatch) {
    if (request.body.find(model::names::kPlaceGate) != std::string::npos) return Step::kGivePlace;
    const bool tells = request.body.find(model::kMembershipAnnotation) != std::string::npos;
    return tells ? Step::kNotifyMember : Step::kReleaseMember;
  }
  if (request.method != Method::kDelete) return Step::kOther;
  const Json body = Json::parse(request.body, nullptr, false);
  const bool force = body.is_object() && body.value("gracePeriodSeconds", -1) == 0;
  return force ? Step::kForceDelete : Step::kDeletePod;
}

}  // namespace

Step stepOf(const net::HttpRequest& request, const kube::ClusterCache& truth) {
  const auto path = sim::parseTarget(request.target);
  if (!path) return Step::kOther;
  // What the API server serves is not one of its objects.
  if (request.method == Method::kGet) return path->resource ? readStep(*path) : Step::kReadOwned;
  if (!path->resource) return Step::kOther;
  if (path->plural == "leases") return request.method == Method::kPost ? Step::kMakeLease : Step::kRenewLease;
  if (path->plural == "events") return Step::kEvent;
  if (path->plural == "services") return Step::kCreateService;
  if (path->plural == "configmaps") return Step::kCreateConfigMap;
  if (path->plural == "trainingjobs") return jobStep(request, *path, truth);
  if (path->plural == "gangs") return gangStep(request, *path, truth);
  if (path->plural == "jobs") return ownerStep(request);
  if (path->plural == "queues") return Step::kStatusWords;
  return path->plural == "pods" ? podStep(request, *path) : Step::kOther;
}

}  // namespace trainyard::simulation
