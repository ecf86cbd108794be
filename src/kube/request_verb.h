#pragma once

#include <string_view>

#include "kube/api_client.h"

namespace trainyard::kube {

// Returns the verb of RBAC and of the audit log: get, list, watch, create, update, patch, delete.
[[nodiscard]] std::string_view verbOf(const ApiRequest& request);

}  // namespace trainyard::kube
