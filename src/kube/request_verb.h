#pragma once

#include <string_view>

#include "kube/api_client.h"

namespace trainyard::kube {

// As RBAC and the audit log call it: get, list, watch, create, update, patch, delete.
[[nodiscard]] std::string_view verbOf(const ApiRequest& request);

}  // namespace trainyard::kube
