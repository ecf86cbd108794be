#pragma once

// Internal to src/sim: parses the URL of a request.

#include <map>
#include <string>
#include <vector>

#include "sim/api/status.h"

namespace trainyard::sim {

using Query = std::map<std::string, std::string>;

struct ApiPath {
  std::string group;
  std::string version;
  std::string space;  // namespace; empty for all of them or for cluster-scoped types
  std::string plural;
  std::string name;
  std::string subresource;
  bool resource = false;              // false: discovery or health
  std::vector<std::string> segments;  // of every path
  Query query;
};

// 404 for a path that is not an API path, 400 for invalid percent-encoding.
[[nodiscard]] Outcome<ApiPath> parseTarget(const std::string& target);

[[nodiscard]] std::string queryText(const Query& query, const std::string& name);
[[nodiscard]] bool queryFlag(const Query& query, const std::string& name);

}  // namespace trainyard::sim
