#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "codec/delete_options.h"
#include "net/http.h"

namespace trainyard::kube {

// The body formats of a write. Strategic merge exists for built-in types only: custom resources return 415.
enum class PatchType { kMerge, kStrategicMerge, kJson, kApply };

using Query = std::vector<std::pair<std::string, std::string>>;  // not yet percent-encoded

struct ApiRequest {
  net::Method method = net::Method::kGet;
  std::string path;  // "/api/v1/namespaces/ml/pods/bert-worker-0/status"
  Query query = {};
  std::string body = {};  // JSON
  std::string contentType = "application/json";
  std::chrono::milliseconds timeout{30'000};
  std::size_t maxAnswerBytes = 0;  // 0: the limit of the transport; beyond: kTooLarge
  bool review = false;             // a POST that asks a question and writes nothing
};

struct ApiResponse {
  int status = 0;
  std::string body;  // JSON of the object or list
};

using ApiCallback = std::function<void(base::Result<ApiResponse>)>;

using codec::DeleteOptions;

// Kubernetes API calls on one event loop. Answers other than 2xx arrive as Errors made from their Status
// object.
class ApiClient {
 public:
  ApiClient() = default;
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;
  virtual ~ApiClient() = default;

  virtual void request(ApiRequest request, ApiCallback done) = 0;
  // `lines` gets each line of a 200 answer; `end` is called once, last: success for a clean end of stream.
  [[nodiscard]] virtual std::unique_ptr<net::StreamHandle> watch(
      ApiRequest request, std::function<void(std::string line)> lines,
      std::function<void(base::Result<void>)> end) = 0;

  void get(std::string path, ApiCallback done);
  void create(std::string collectionPath, std::string body, ApiCallback done, Query query = {});
  void patch(PatchType type, std::string path, std::string body, ApiCallback done, Query query = {});
  void remove(std::string path, const DeleteOptions& options, ApiCallback done);
};

[[nodiscard]] std::string_view contentTypeOf(PatchType type);

}  // namespace trainyard::kube
