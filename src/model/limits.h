#pragma once

#include <cstddef>
#include <cstdint>

// How much of anything a user may write. Each is far above what serves a purpose, and keeps what one object
// can cost the programs small; templates beyond are refused by reason.
namespace trainyard::model::limits {

// Extended resources, host ports and terms of required anti-affinity of a pod together: each becomes an
// amount of its own in all that counts room.
inline constexpr std::size_t kResourceNames = 32;

// Kinds of resources that a container's requests or limits list, those included that are not counted.
inline constexpr std::size_t kResourceEntries = 64;

// Where a pod may go is compared with every node.
inline constexpr std::size_t kTolerations = 128;
// In what a template says of nodes, and in the labels that a pod keeps apart by.
inline constexpr std::size_t kSelectorValues = 1024;
// Of node selectors and required node affinity of a job's roles together; the same of several counts once. To
// compare them with all nodes is one step, in which nothing else happens: `tools/bench hostile`.
inline constexpr std::size_t kNodeWords = 256;
inline constexpr std::size_t kVolumeClaims = 64;

// Of the pods of a job together, as they are written: an eighth of what etcd holds unless told otherwise.
inline constexpr std::int64_t kJobPodBytes = std::int64_t{256} << 20;

// Of a job's templates together, and of a pod as it is created: with 256 KiB of annotations, which the API
// server lets anybody add to either, and what is told of it, it can still be written. etcd stores 1.5 MiB.
inline constexpr std::int64_t kTemplateBytes = std::int64_t{1} << 20;

// Of one variable with its name: what Linux lets a process begin with.
inline constexpr std::int64_t kVariableBytes = 131'071;

// Of a ConfigMap's data, keys included: what the API server takes.
inline constexpr std::size_t kConfigMapBytes = std::size_t{1} << 20;

// Of a job with a Service for each member: each is an object of its own, and one of its endpoints beside it.
inline constexpr int kMemberServices = 1'000;

// Of texts that the API server takes: a condition's message, an Event's note, and its other words.
inline constexpr std::size_t kConditionMessage = 32'768;
inline constexpr std::size_t kEventNote = 1'024;
inline constexpr std::size_t kEventWord = 128;

}  // namespace trainyard::model::limits
