#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/settings.h"
#include "model/policy.h"
#include "model/provisioning.h"
#include "operator/certificate_plan.h"

namespace trainyard::operator_ {

struct OperatorOptions {
  std::string identity;  // unique per process: host name and a random part
  std::string leaseNamespace = "trainyard-system";
  std::string leaseName = "trainyard-operator";
  core::Settings settings = {};
  std::vector<std::string> workloadKinds = {};  // of other controllers, whose gangs are placed: "JobSet"
  bool kueue = false;                           // jobs with a queue of Kueue wait until it admits them
  std::string policyConfigMap = {};             // of the policy file; empty: Events about it name the Lease
  std::string schedulerName = {};               // that binds the pods; empty: the cluster's default scheduler
  std::string launcherImage = "trainyard-launch";  // empty: jobs with checkpoint.mode Launcher are refused
  std::optional<CertificateOptions> certificates = std::nullopt;  // absent: others make them
  model::Policy policy = {};                                      // initial
  model::ProvisioningPolicy provisioning = {};                    // initial
};

}  // namespace trainyard::operator_
