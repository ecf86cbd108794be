#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http.h"
#include "sim/api/server.h"

namespace trainyard::sim {

struct NodeShape {
  std::int64_t gpus = 8;
  std::int64_t cpus = 128;
  std::string memory = "1Ti";
  std::int64_t pods = 110;
  int nodesInRack = 4;
  int racksInBlock = 4;
  int blocksInZone = 4;
};

// The requests of users and administrators, which the API server handles immediately.
class ClusterUser {
 public:
  // The server must outlive the user.
  explicit ClusterUser(ApiServer& server) : server_(server) {}

  // Executes a request. Answers other than 2xx are errors.
  base::Result<std::string> request(net::Method method, const std::string& path, const std::string& body,
                                    const std::string& contentType);
  // Creates an object at the path of its apiVersion, kind and namespace (or `ns`).
  base::Result<std::string> create(const std::string& json, std::string_view ns);
  // Adds nodes n0000, n0001 …, numbered after those added before; racks, blocks and zones are filled in that
  // order. An error is the API server's refusal.
  [[nodiscard]] base::Result<void> addNodes(int count, const NodeShape& shape);

 private:
  ApiServer& server_;
  int nodes_ = 0;
};

}  // namespace trainyard::sim
