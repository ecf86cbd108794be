#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/pod.h"

// What kube-scheduler and an extender say to each other (k8s.io/kube-scheduler/extender/v1). Its Go types
// have no JSON tags, so keys are spelled as here, in upper case. Only the form of `nodeCacheCapable: true` is
// spoken: whole Node objects would be fifty megabytes for each pod on a large cluster.
namespace trainyard::codec {

// Arguments of filter and prioritize.
struct ExtenderArgs {
  model::Pod pod;
  std::vector<std::string_view> nodeNames;
};

// A node where pods would have to go.
struct MetaVictims {
  std::string_view node;
  std::vector<std::string_view> uids;
  std::int64_t pdbViolations = 0;
};

// Arguments of preempt.
struct PreemptionArgs {
  model::Pod pod;
  std::vector<MetaVictims> candidates;
};

// Reads requests one after the other, keeping its buffers warm. Texts in what it returns are views into the
// parser: valid until the next call. Not for several threads at a time.
class ExtenderArgsParser {
 public:
  ExtenderArgsParser();
  ~ExtenderArgsParser();
  ExtenderArgsParser(const ExtenderArgsParser&) = delete;
  ExtenderArgsParser& operator=(const ExtenderArgsParser&) = delete;

  // `body` is not changed, but may be moved in memory to get the padding that the parser needs. kInvalid
  // names what is wrong and where.
  [[nodiscard]] base::Result<ExtenderArgs> parse(std::string& body);
  [[nodiscard]] base::Result<PreemptionArgs> parsePreemption(std::string& body);

  // Bytes of the largest request that the buffers were made for.
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

// NodeNames is always present: without it kube-scheduler takes every node as refused.
[[nodiscard]] std::string encodeFilterResult(std::span<const std::string_view> nodeNames,
                                             std::span<const FailedNode> failed);
// A call that failed: kube-scheduler shows the text in the pod's event and tries again.
[[nodiscard]] std::string encodeFilterError(std::string_view message);
// A bare array. Names and scores go in pairs.
[[nodiscard]] std::string encodePriorities(std::span<const std::string_view> nodeNames,
                                           std::span<const int> scores);
[[nodiscard]] std::string encodePreemptionResult(std::span<const MetaVictims> kept);

}  // namespace trainyard::codec
