#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "kube/api_client.h"

namespace trainyard::operator_ {

using ApiCall = std::function<void(kube::ApiCallback)>;
using ApiCalls = std::vector<ApiCall>;
using ApiCallsDone = std::function<void(const base::Result<void>&)>;

// Makes the calls one after the other, up to the first that fails. Makes no further call, and does not call
// `done`, once `*alive` is false.
void makeInOrder(ApiCalls calls, const std::shared_ptr<const bool>& alive, ApiCallsDone done);

// A callback to which this error is a success: a repeated create finds its own object, a repeated delete
// none.
[[nodiscard]] kube::ApiCallback tolerating(base::ErrorCode code, kube::ApiCallback done);

}  // namespace trainyard::operator_
