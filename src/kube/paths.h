#pragma once

#include <string>
#include <string_view>

namespace trainyard::kube {

// One resource type as it appears in URLs.
struct ResourceType {
  std::string_view group;  // "" for the core group
  std::string_view version;
  std::string_view plural;
  bool namespaced = true;

  // "/api/v1/pods" or "/apis/trainyard.dev/v1alpha1/trainingjobs": all namespaces.
  [[nodiscard]] std::string collection() const;
  // The collection inside one namespace; for cluster-scoped types the namespace is ignored.
  [[nodiscard]] std::string collection(std::string_view ns) const;
  [[nodiscard]] std::string object(std::string_view ns, std::string_view name,
                                   std::string_view subresource = {}) const;
};

inline constexpr ResourceType kPods{"", "v1", "pods"};
inline constexpr ResourceType kServices{"", "v1", "services"};
inline constexpr ResourceType kConfigMaps{"", "v1", "configmaps"};
inline constexpr ResourceType kSecrets{"", "v1", "secrets"};
inline constexpr ResourceType kNodes{"", "v1", "nodes", false};
inline constexpr ResourceType kNamespaces{"", "v1", "namespaces", false};
inline constexpr ResourceType kLeases{"coordination.k8s.io", "v1", "leases"};
inline constexpr ResourceType kEvents{"events.k8s.io", "v1", "events"};
inline constexpr ResourceType kDisruptionBudgets{"policy", "v1", "poddisruptionbudgets"};
inline constexpr ResourceType kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses", false};
inline constexpr ResourceType kTrainingJobs{"trainyard.dev", "v1alpha1", "trainingjobs"};
inline constexpr ResourceType kGangs{"trainyard.dev", "v1alpha1", "gangs"};
inline constexpr ResourceType kQueues{"trainyard.dev", "v1alpha1", "queues", false};

}  // namespace trainyard::kube
