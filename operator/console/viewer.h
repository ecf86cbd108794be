#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace trainyard::operator_::console {

using Names = std::set<std::string, std::less<>>;

// Who looks, and at what of the cluster, as the API server says.
struct Viewer {
  std::string user = {};
  bool everywhere = false;  // TrainingJobs of all namespaces
  Names namespaces = {};    // else of these
  bool nodes = false;
  bool queues = false;

  [[nodiscard]] bool sees(std::string_view ns) const { return everywhere || namespaces.contains(ns); }
  friend bool operator==(const Viewer&, const Viewer&) = default;
};

// With whom a user is counted together where one may take a part of the console only: with all
// ServiceAccounts of his namespace, of which whoever may make them has as many as he likes. Else he is alone.
[[nodiscard]] std::string tenantOf(std::string_view user);

inline constexpr std::string_view kAnother = "one of another namespace";

// The words of the operator name jobs and pods as "namespace/name". Of those in namespaces that the viewer
// does not see, kAnother is left. `known`: the namespaces that there are; what stands
// before another slash ("zone-a/rack-3", "nvidia.com/gpu") is none.
[[nodiscard]] std::string withoutOthers(std::string_view text, const Viewer& viewer, const Names& known);

}  // namespace trainyard::operator_::console
