#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/object_cache.h"
#include "model/pod.h"

namespace trainyard::sim {

struct KubeletContainer {
  std::string name;
  std::string image;
  bool sidecar = false;  // an init container with restartPolicy Always
};

// A pod as its kubelet keeps it, with the behaviour that its annotations request.
struct KubeletPod {
  model::Pod pod;
  std::vector<KubeletContainer> initContainers;
  std::vector<KubeletContainer> containers;
  std::chrono::seconds grace{0};                          // metadata.deletionGracePeriodSeconds
  std::optional<std::chrono::seconds> toleratesLostNode;  // absent: for ever

  std::optional<std::chrono::microseconds> runFor;  // sim.trainyard.dev/run-for; absent: until it is deleted
  // sim.trainyard.dev/stop-for: from SIGTERM to its end; absent: KubeletOptions::stopTime.
  std::optional<std::chrono::microseconds> stopFor;
  // Its membership (model/membership.h) excludes it from its job. It then ends by itself with exit code 0,
  // after sim.trainyard.dev/leave-for; if that is absent, at once; if it is "never", not at all.
  bool dismissed = false;
  std::optional<std::chrono::microseconds> leaveFor = std::chrono::microseconds(0);
  int exitCode = 0;        // sim.trainyard.dev/exit-code
  std::string exitReason;  // sim.trainyard.dev/reason
};

// kInvalid names the invalid annotation.
[[nodiscard]] base::Result<KubeletPod> decodeKubeletPod(std::string_view json);

// Parses "1m30s", "500ms", "1.5h": Go's durations without sign, down to microseconds.
[[nodiscard]] base::Result<std::chrono::microseconds> parseGoDuration(std::string_view text);

// Status patches, as strategic merge patches of pods/status.
[[nodiscard]] std::string runningPatch(const KubeletPod& pod, std::string_view podIp, base::WallTime now);
// The containers end with `exitCode`: Succeeded for 0, otherwise Failed.
[[nodiscard]] std::string endedPatch(const KubeletPod& pod, int exitCode, std::string_view reason,
                                     base::WallTime started, base::WallTime now);
// The pod never started: phase Failed without any container.
[[nodiscard]] std::string refusedPatch(const KubeletPod& pod, std::string_view reason,
                                       std::string_view message, base::WallTime now);

}  // namespace trainyard::sim

namespace trainyard::kube {

template <>
struct CacheTraits<sim::KubeletPod> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Pod";
  static const Key& keyOf(const sim::KubeletPod& each) { return each.pod.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const sim::KubeletPod& before, const sim::KubeletPod& after) {
    return before.pod.uid == after.pod.uid && before.pod.resourceVersion == after.pod.resourceVersion;
  }
};

}  // namespace trainyard::kube
