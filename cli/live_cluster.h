#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "kube/api_client.h"
#include "model/snapshot.h"

namespace trainyard::cli {

// What commands ask of the API server; the thread waits for the answers.
class LiveCluster {
 public:
  LiveCluster() = default;
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;
  virtual ~LiveCluster() = default;

  // Bodies of the answers in the order of the paths, asked for at the same time.
  [[nodiscard]] virtual std::vector<base::Result<std::string>> get(const std::vector<std::string>& paths) = 0;
  // The body of the answer to a POST of JSON.
  [[nodiscard]] virtual base::Result<std::string> post(const std::string& path, const std::string& body,
                                                       const kube::Query& query) = 0;
  // Everything that decisions rest on, read as the operator reads it; with the default policy.
  [[nodiscard]] virtual base::Result<model::Snapshot> snapshot() = 0;

  // Where answers come from, for messages: "kubeconfig /h/.kube/config, context dev".
  [[nodiscard]] virtual const std::string& source() const = 0;
  // The namespace to use when none is named.
  [[nodiscard]] virtual const std::string& ns() const = 0;
  [[nodiscard]] virtual base::WallTime now() const = 0;
};

}  // namespace trainyard::cli
