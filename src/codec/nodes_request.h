#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/job.h"
#include "model/provisioning.h"

namespace trainyard::codec {

// Objects that ask an autoscaler for the nodes of a whole gang (docs/autoscaling.md). The job owns them, so
// they are deleted with it. Their names hold the job's uid, so that a new job of the same name does not adopt
// the requests of an old one.

// The versions of autoscaling.x-k8s.io; they do not differ in the fields that are used here.
enum class NodesApi { kV1, kV1Beta1 };

[[nodiscard]] base::Result<model::NodesRequest> decodeNodesRequest(std::string_view json);

// The number of members of the role to request nodes for: those that the gang needs to start.
[[nodiscard]] int membersToAskFor(const model::JobSpec& spec, const model::Role& role);

[[nodiscard]] std::string nodesRequestName(const model::Job& job, int attempt);
// Encodes a ProvisioningRequest with one pod set per role.
[[nodiscard]] std::string encodeNodesRequest(const model::Job& job, int attempt, NodesApi api,
                                             const model::ProvisioningPolicy& policy);

[[nodiscard]] std::string nodesTemplateName(const model::Job& job, const model::Role& role, int attempt);
// The PodTemplate that the request names: the parts of the role's template that decide where its members may
// run. kInvalid if the template has no spec.
[[nodiscard]] base::Result<std::string> encodeNodesTemplate(const model::Job& job, const model::Role& role,
                                                            int attempt);

// The prefix of the names of all placeholders of the job, and of no other pods.
[[nodiscard]] std::string placeholderPrefix(const model::Job& job);
[[nodiscard]] std::string placeholderName(const model::Job& job, const model::Role& role, int index);
// A pod like a member, without the fields that only a running pod needs. Its schedulerName matches no
// scheduler, so it never takes capacity. The job owns but does not control it: it is not charged.
[[nodiscard]] base::Result<std::string> encodePlaceholder(const model::Job& job, const model::Role& role,
                                                          int index, int attempt);
// A patch of its status with the condition that kube-scheduler sets on an unschedulable pod, which
// autoscalers react to.
[[nodiscard]] std::string encodeUnschedulable(base::WallTime now);

}  // namespace trainyard::codec
