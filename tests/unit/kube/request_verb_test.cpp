#include "kube/request_verb.h"

#include <catch2/catch.hpp>

namespace trainyard::kube {
namespace {

TEST_CASE("Requests have the verbs of RBAC") {
  const auto verb = [](net::Method method, const char* path) {
    return verbOf(ApiRequest{.method = method, .path = path});
  };
  using net::Method;
  CHECK(verb(Method::kGet, "/api/v1/nodes") == "list");
  CHECK(verb(Method::kGet, "/api/v1/nodes/n1") == "get");
  CHECK(verb(Method::kGet, "/api/v1/namespaces") == "list");
  CHECK(verb(Method::kGet, "/api/v1/namespaces/ml") == "get");
  CHECK(verb(Method::kGet, "/api/v1/namespaces/ml/pods") == "list");
  CHECK(verb(Method::kGet, "/api/v1/namespaces/ml/pods/a-worker-0") == "get");
  CHECK(verb(Method::kGet, "/api/v1/namespaces/ml/pods/a-worker-0/log") == "get");
  CHECK(verb(Method::kGet, "/apis/trainyard.dev/v1alpha1/trainingjobs") == "list");
  CHECK(verb(Method::kGet, "/apis/trainyard.dev/v1alpha1/queues/vision") == "get");
  CHECK(verb(Method::kGet, "/apis/trainyard.dev/v1alpha1/namespaces/ml/trainingjobs") == "list");
  CHECK(verb(Method::kGet, "/apis/coordination.k8s.io/v1/namespaces/s/leases/l") == "get");
  CHECK(verb(Method::kGet, "/version") == "get");
  CHECK(verb(Method::kPost, "/api/v1/namespaces/ml/pods") == "create");
  CHECK(verb(Method::kPut, "/apis/coordination.k8s.io/v1/namespaces/s/leases/l") == "update");
  CHECK(verb(Method::kPatch, "/api/v1/namespaces/ml/pods/a") == "patch");
  CHECK(verb(Method::kDelete, "/api/v1/namespaces/ml/pods/a") == "delete");
}

}  // namespace
}  // namespace trainyard::kube
