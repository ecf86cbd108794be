#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/pod.h"

// The requests and answers of kube-scheduler's extender protocol (k8s.io/kube-scheduler/extender/v1). Its Go
// types have no JSON tags, so keys are in upper case. Only the form of `nodeCacheCapable: true` is supported:
// whole Node objects would take fifty megabytes for each pod on a large cluster.
namespace trainyard::codec {

// The arguments of filter and prioritize.
struct ExtenderArgs {
  model::Pod pod;
  std::vector<std::string_view> nodeNames;
};

// A node on which pods would have to be preempted.
struct MetaVictims {
  std::string_view node;
  std::vector<std::string_view> uids;
  std::int64_t pdbViolations = 0;
};

// The arguments of preempt.
struct PreemptionArgs {
  model::Pod pod;
  std::vector<MetaVictims> candidates;
};

// Parses one request after another and reuses its buffers. The returned texts are views into the parser and
// stay valid until the next call. Not thread-safe.
class ExtenderArgsParser {
 public:
  ExtenderArgsParser();
  ~ExtenderArgsParser();
  ExtenderArgsParser(const ExtenderArgsParser&) = delete;
  ExtenderArgsParser& operator=(const ExtenderArgsParser&) = delete;

  // `body` is not changed, but may be reallocated to get the padding that the parser needs. kInvalid names
  // the error and its position.
  [[nodiscard]] base::Result<ExtenderArgs> parse(std::string& body);
  [[nodiscard]] base::Result<PreemptionArgs> parsePreemption(std::string& body);

  // The size in bytes of the largest request so far, for which the buffers were allocated.
  [[nodiscard]] std::size_t capacity() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct FailedNode {
  std::string_view node;
  std::string_view message;
  bool unresolvable = true;
};

// NodeNames is always present: if it is missing, kube-scheduler treats every node as refused.
[[nodiscard]] std::string encodeFilterResult(std::span<const std::string_view> nodeNames,
                                             std::span<const FailedNode> failed);
// The answer to a failed call: kube-scheduler shows the text in the pod's event and retries.
[[nodiscard]] std::string encodeFilterError(std::string_view message);
// A bare array. Names and scores correspond by position.
[[nodiscard]] std::string encodePriorities(std::span<const std::string_view> nodeNames,
                                           std::span<const int> scores);
[[nodiscard]] std::string encodePreemptionResult(std::span<const MetaVictims> kept);

}  // namespace trainyard::codec
