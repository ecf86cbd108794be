#pragma once

#include <string_view>

// Where a member's pod has what other systems write into labels of their own.
namespace trainyard::cli::pod_paths {

inline constexpr std::string_view kIndex = "metadata.labels['trainyard.dev/index']";
inline constexpr std::string_view kRole = "metadata.labels['trainyard.dev/role']";
inline constexpr std::string_view kJob = "metadata.labels['trainyard.dev/job-name']";
inline constexpr std::string_view kJobUid = "metadata.labels['trainyard.dev/job-uid']";
inline constexpr std::string_view kNamespace = "metadata.namespace";

}  // namespace trainyard::cli::pod_paths
