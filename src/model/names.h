#pragma once

#include <string_view>

// Names that other programs see: labels, gates, finalizers. Changing one breaks running clusters.
namespace trainyard::model::names {

inline constexpr std::string_view kApiVersion = "trainyard.dev/v1alpha1";
inline constexpr std::string_view kTrainingJobKind = "TrainingJob";
inline constexpr std::string_view kGangKind = "Gang";

inline constexpr std::string_view kJobNameLabel = "trainyard.dev/job-name";
// On placeholder pods: the uid of the job that the nodes are requested for.
inline constexpr std::string_view kNodesForLabel = "trainyard.dev/nodes-for";
inline constexpr std::string_view kJobUidLabel = "trainyard.dev/job-uid";
inline constexpr std::string_view kEpochLabel = "trainyard.dev/epoch";
inline constexpr std::string_view kRoleLabel = "trainyard.dev/role";
inline constexpr std::string_view kIndexLabel = "trainyard.dev/index";

// On pods that other controllers make: the Gang that they ask for a place in, and their role there.
inline constexpr std::string_view kGangLabel = "trainyard.dev/gang";
inline constexpr std::string_view kGangRoleLabel = "trainyard.dev/gang-role";
inline constexpr std::string_view kQueueLabel = "trainyard.dev/queue";
// The gate of such pods. Any user may add it; only the operator removes it.
inline constexpr std::string_view kPlaceGate = "trainyard.dev/place";

inline constexpr std::string_view kGangGate = "trainyard.dev/gang";
inline constexpr std::string_view kReleaseFinalizer = "trainyard.dev/release";

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
inline constexpr std::string_view kGpuProductLabel = "nvidia.com/gpu.product";

inline constexpr std::string_view kDefaultQueue = "default";
// On a Namespace: the queue that kDefaultQueue stands for there.
inline constexpr std::string_view kDefaultQueueLabel = "trainyard.dev/default-queue";

}  // namespace trainyard::model::names
