#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace trainyard::operator_::console {

using Names = std::set<std::string, std::less<>>;

// A user of the console, and what the API server lets them read.
struct Viewer {
  std::string user = {};
  bool everywhere = false;  // TrainingJobs of all namespaces
  Names namespaces = {};    // otherwise of these
  bool nodes = false;
  bool queues = false;

  [[nodiscard]] bool sees(std::string_view ns) const { return everywhere || namespaces.contains(ns); }
  friend bool operator==(const Viewer&, const Viewer&) = default;
};

// The tenant that limits of the console apply to. A ServiceAccount shares it with all accounts of its
// namespace, of which there may be any number. Any other user is a tenant of their own.
[[nodiscard]] std::string tenantOf(std::string_view user);

inline constexpr std::string_view kAnother = "one of another namespace";

// Messages name jobs and pods as "namespace/name". Replaces the names of those in namespaces that the viewer
// does not see by kAnother. `known` lists the existing namespaces: text before another slash
// ("zone-a/rack-3", "nvidia.com/gpu") is no namespace.
[[nodiscard]] std::string withoutOthers(std::string_view text, const Viewer& viewer, const Names& known);

}  // namespace trainyard::operator_::console
