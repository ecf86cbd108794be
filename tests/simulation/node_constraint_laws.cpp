#include "simulation/node_constraint_laws.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/member_of.h"
#include "simulation/objects.h"

namespace trainyard::simulation {
namespace {

using Json = nlohmann::json;

constexpr const char* kRequired = "/requiredDuringSchedulingIgnoredDuringExecution";

// Returns true if any value in the JSON tree equals this text.
bool names(const Json& part, const std::string& text) {
  if (part.is_string()) return part.get<std::string>() == text;
  if (!part.is_structured()) return false;  // a number would contain itself
  return std::any_of(part.begin(), part.end(), [&](const Json& each) { return names(each, text); });
}

Json at(const Json& body, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  return body.contains(place) ? body.at(place) : Json();
}

bool asks(const Json& body, NodeConstraint wish) {
  const std::string affinity = "/spec/affinity/";
  switch (wish) {
    case NodeConstraint::kNone: return true;
    case NodeConstraint::kRack: return names(at(body, "/spec/nodeSelector"), "r0");
    case NodeConstraint::kOtherRack:
      return names(at(body, affinity + "nodeAffinity" + kRequired), kRackLabel);
    case NodeConstraint::kTolerates: return names(at(body, "/spec/tolerations"), kMaintenanceTaint);
    case NodeConstraint::kApart:
      return names(at(body, affinity + "podAntiAffinity" + kRequired), "kubernetes.io/hostname");
  }
  return false;
}

}  // namespace

NodeConstraintLaws::NodeConstraintLaws(const Scenario& scenario, sim::ClusterObserver& truth, ReadPod read,
                                       Violated violated)
    : scenario_(scenario), truth_(truth), read_(std::move(read)), violated_(std::move(violated)) {
  for (const JobPlan& plan : scenario_.jobs) {
    if (plan.wish != NodeConstraint::kNone) wishes_.emplace(plan.gangName(), plan.wish);
  }
  if (wishes_.empty()) return;
  truth_.cache().pods.onChange([this](const auto& before, const auto& after) {
    const bool same = before && after && before->uid == after->uid;
    if (after && after->bound() && !(same && before->bound())) podBound(*after);
  });
}

void NodeConstraintLaws::podBound(const model::Pod& pod) {
  if (!model::claimsGang(pod) || !pod.member) return;
  const auto wish = wishes_.find(pod.member->jobName);
  if (wish == wishes_.end()) return;
  checkPod(pod, wish->second);
  checkNode(pod, wish->second);
  if (wish->second == NodeConstraint::kApart) checkAlone(pod);
}

void NodeConstraintLaws::checkPod(const model::Pod& pod, NodeConstraint wish) {
  const Json body = Json::parse(read_(pod.key), nullptr, false);
  if (!body.is_object()) return;  // the pod was just deleted
  if (!asks(body, wish))
    violated_(fmt::format("pod {} no longer asks of nodes what its template does", pod.key));
}

void NodeConstraintLaws::checkNode(const model::Pod& pod, NodeConstraint wish) {
  // n0000, n0001 and so on.
  if (!scenario_.mayUse(std::stoi(pod.node.str().substr(1)), wish))
    violated_(fmt::format("pod {} is bound to {}, which its template rules out", pod.key, pod.node));
}

void NodeConstraintLaws::checkAlone(const model::Pod& pod) {
  for (const auto& other : truth_.cache().pods.all()) {
    const bool beside = other->uid != pod.uid && other->member &&
                        model::gangUidOf(*other) == model::gangUidOf(pod) && other->node == pod.node &&
                        !other->finished();
    if (beside) violated_(fmt::format("pods {} and {} are bound to {}", pod.key, other->key, pod.node));
  }
}

}  // namespace trainyard::simulation
