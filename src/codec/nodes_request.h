#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/job.h"
#include "model/provisioning.h"

namespace trainyard::codec {

// Objects that ask an autoscaler for the nodes of a whole gang (docs/autoscaling.md). All are the job's: they
// go with it, and their names hold its uid, so that a job of the same name never takes over what another one
// asked.

// Of which version of autoscaling.x-k8s.io; they differ in nothing that is used here.
enum class NodesApi { kV1, kV1Beta1 };

[[nodiscard]] base::Result<model::NodesRequest> decodeNodesRequest(std::string_view json);

// How many members of the role nodes are asked for: those without which the gang does not start.
[[nodiscard]] int membersToAskFor(const model::JobSpec& spec, const model::Role& role);

[[nodiscard]] std::string nodesRequestName(const model::Job& job, int attempt);
// ProvisioningRequest with one set of pods a role.
[[nodiscard]] std::string encodeNodesRequest(const model::Job& job, int attempt, NodesApi api,
                                             const model::ProvisioningPolicy& policy);

[[nodiscard]] std::string nodesTemplateName(const model::Job& job, const model::Role& role, int attempt);
// The PodTemplate that the request names: what of the role's template decides where its members may be.
// kInvalid when the template has no spec.
[[nodiscard]] base::Result<std::string> encodeNodesTemplate(const model::Job& job, const model::Role& role,
                                                            int attempt);

// What all placeholders of the job are named with, and no other pod.
[[nodiscard]] std::string placeholderPrefix(const model::Job& job);
[[nodiscard]] std::string placeholderName(const model::Job& job, const model::Role& role, int index);
// A pod like a member, but for what only a running one reads, that no scheduler looks at, so that it never
// takes a place from anybody. Owned, but not controlled: it is no member, and nobody is charged for it.
[[nodiscard]] base::Result<std::string> encodePlaceholder(const model::Job& job, const model::Role& role,
                                                          int index, int attempt);
// A patch of its status: what kube-scheduler writes to a pod that fits nowhere, and what autoscalers look
// for.
[[nodiscard]] std::string encodeUnschedulable(base::WallTime now);

}  // namespace trainyard::codec
