#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "kube/api_client.h"
#include "model/snapshot.h"

namespace trainyard::cli {

// The requests of commands to the API server; the calling thread waits for the answers.
class LiveCluster {
 public:
  LiveCluster() = default;
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;
  virtual ~LiveCluster() = default;

  // Returns the bodies of the answers in the order of the paths; the requests are sent concurrently.
  [[nodiscard]] virtual std::vector<base::Result<std::string>> get(const std::vector<std::string>& paths) = 0;
  // Returns the body of the answer to a POST of JSON.
  [[nodiscard]] virtual base::Result<std::string> post(const std::string& path, const std::string& body,
                                                       const kube::Query& query) = 0;
  // Returns everything that decisions depend on, read as by the operator, with the default policy.
  [[nodiscard]] virtual base::Result<model::Snapshot> snapshot() = 0;

  // Returns the source of the answers, for messages: "kubeconfig /h/.kube/config, context dev".
  [[nodiscard]] virtual const std::string& source() const = 0;
  // The default namespace.
  [[nodiscard]] virtual const std::string& ns() const = 0;
  [[nodiscard]] virtual base::WallTime now() const = 0;
};

}  // namespace trainyard::cli
