#pragma once

#include <cstddef>
#include <cstdint>

// Upper bounds on what a user may write. Each is far above any useful value, and bounds what one object can
// cost the programs; admission rejects templates beyond them with a reason.
namespace trainyard::model::limits {

// Extended resources, host ports and terms of required anti-affinity of a pod together: each is one more
// amount in every count of capacity.
inline constexpr std::size_t kResourceNames = 32;

// Kinds of resources in a container's requests or limits, uncounted ones included.
inline constexpr std::size_t kResourceEntries = 64;

// The constraints of a pod are compared with every node.
inline constexpr std::size_t kTolerations = 128;
// In a template's node constraints, and in the labels of its pod anti-affinity.
inline constexpr std::size_t kSelectorValues = 1024;
// In node selectors and node affinity of a job's roles together; equal values count once. To compare them
// with all nodes is one uninterruptible step: `tools/bench hostile`.
inline constexpr std::size_t kMaxNodeTerms = 256;
inline constexpr std::size_t kVolumeClaims = 64;

// All pods of a job together, in written form: an eighth of etcd's default size.
inline constexpr std::int64_t kJobPodBytes = std::int64_t{256} << 20;

// All templates of a job together, and a pod at creation. With 256 KiB of annotations, which the API server
// lets any user add to either, and its status, the object can still be written. etcd stores 1.5 MiB.
inline constexpr std::int64_t kTemplateBytes = std::int64_t{1} << 20;

// One variable with its name: Linux's limit at the start of a process.
inline constexpr std::int64_t kVariableBytes = 131'071;

// The data of a ConfigMap, keys included: the API server's limit.
inline constexpr std::size_t kConfigMapBytes = std::size_t{1} << 20;

// A job with a Service for each member: each is a separate object with separate endpoints.
inline constexpr int kMemberServices = 1'000;

// Texts that the API server limits: a condition's message, an Event's note, and its other texts.
inline constexpr std::size_t kConditionMessage = 32'768;
inline constexpr std::size_t kMaxEventNote = 1'024;
inline constexpr std::size_t kMaxEventField = 128;

}  // namespace trainyard::model::limits
