#include "kube/lease_client.h"

#include "kube/paths.h"

namespace trainyard::kube {

base::Result<codec::Lease> leaseOf(base::Result<ApiResponse> answer) {
  return answer ? codec::decodeLease(std::move(answer->body)) : tl::unexpected(std::move(answer.error()));
}

LeaseClient::LeaseClient(std::string ns, std::string name, ApiClient& api)
    : ns_(std::move(ns)), name_(std::move(name)), path_(kLeases.object(ns_, name_)), api_(api) {}

void LeaseClient::read(std::chrono::milliseconds timeout,
                       std::function<void(base::Result<codec::Lease>)> done) const {
  api_.request(
      {.path = path_, .timeout = timeout},
      [done = std::move(done)](base::Result<ApiResponse> answer) { done(leaseOf(std::move(answer))); });
}

void LeaseClient::write(const codec::Lease* lease, const codec::LeaseRecord& record,
                        std::chrono::milliseconds timeout, ApiCallback done) const {
  ApiRequest request;
  request.timeout = timeout;
  if (lease != nullptr) {
    request.method = net::Method::kPut;
    request.path = path_;
    request.body = codec::encodeLease(*lease, record);
  } else {
    request.method = net::Method::kPost;
    request.path = kLeases.collection(ns_);
    request.body = codec::encodeNewLease(ns_, name_, record);
  }
  api_.request(std::move(request), std::move(done));
}

}  // namespace trainyard::kube
