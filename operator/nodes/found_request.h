#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/pod.h"
#include "model/provisioning.h"

namespace trainyard::operator_ {

// The request for a job's nodes that exists in the API.
struct FoundRequest {
  model::NodesRequest request;
  model::ProvisioningBy by{};
  std::vector<std::shared_ptr<const model::Pod>> placeholders = {};
  std::size_t foreignPods = 0;  // foreign pods with the names of placeholders
};

}  // namespace trainyard::operator_
