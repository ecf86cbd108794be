#include "sim/nodes/kubelet_pod.h"

#include <charconv>

#include <fmt/format.h>

#include "codec/pod.h"
#include "model/membership.h"
#include "sim/api/json.h"
#include "sim/nodes/read_json.h"

namespace trainyard::sim {
namespace {

using codec::JsonValue;

constexpr const char* kRunFor = "sim.trainyard.dev/run-for";
constexpr const char* kStopFor = "sim.trainyard.dev/stop-for";
constexpr const char* kLeaveFor = "sim.trainyard.dev/leave-for";
constexpr const char* kExitCode = "sim.trainyard.dev/exit-code";
constexpr const char* kReason = "sim.trainyard.dev/reason";

std::vector<KubeletContainer> readContainers(JsonValue pod, const char* list) {
  std::vector<KubeletContainer> containers;
  valueAt(pod, {"spec", list}).forEachElement([&](JsonValue each) {
    containers.push_back(
        {textAt(each, {"name"}), textAt(each, {"image"}), textAt(each, {"restartPolicy"}) == "Always"});
  });
  return containers;
}

// Returns how long the taint manager leaves a pod on an unreachable node.
std::optional<std::chrono::seconds> readToleration(JsonValue pod) {
  std::optional<std::chrono::seconds> shortest;
  bool tolerated = false;
  valueAt(pod, {"spec", "tolerations"}).forEachElement([&](JsonValue each) {
    const std::string key = textAt(each, {"key"});
    const std::string effect = textAt(each, {"effect"});
    if (!key.empty() && key != "node.kubernetes.io/unreachable") return;
    if (!effect.empty() && effect != "NoExecute") return;
    tolerated = true;
    const auto seconds = each.find("tolerationSeconds").integer();
    if (seconds && (!shortest || std::chrono::seconds(*seconds) < *shortest))
      shortest = std::chrono::seconds(*seconds);
  });
  return tolerated ? shortest : std::chrono::seconds(0);
}

// Returns true if the pod's index exceeds the size of its role in its membership: it left the job.
bool readDismissed(JsonValue pod, const model::Pod& member) {
  const std::string text = textAt(pod, {"metadata", "annotations", model::kMembershipAnnotation});
  if (text.empty() || !member.member) return false;
  const auto membership = codec::JsonDocument::parse(text);
  return membership && textAt(membership->root(), {"role"}) == member.member->role &&
         member.member->index >= membership->root().find("size").integer().value_or(INT64_MAX);
}

base::Result<void> readAnnotations(JsonValue pod, KubeletPod& result) {
  const auto complain = [&](const char* name, std::string_view what) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("pod {}: annotation {}: {}", result.pod.key, name, what));
  };
  for (const auto& [name, time] :
       {std::pair{kRunFor, &result.runFor}, std::pair{kStopFor, &result.stopFor}}) {
    const std::string text = textAt(pod, {"metadata", "annotations", name});
    if (text.empty()) continue;
    const auto duration = parseGoDuration(text);
    if (!duration) return complain(name, duration.error().message);
    *time = *duration;
  }
  const std::string leaveFor = textAt(pod, {"metadata", "annotations", kLeaveFor});
  if (leaveFor == "never") {
    result.leaveFor.reset();
  } else if (!leaveFor.empty()) {
    const auto duration = parseGoDuration(leaveFor);
    if (!duration) return complain(kLeaveFor, duration.error().message);
    result.leaveFor = *duration;
  }
  result.dismissed = readDismissed(pod, result.pod);
  if (const std::string text = textAt(pod, {"metadata", "annotations", kExitCode}); !text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.exitCode);
    if (error != std::errc() || end != text.data() + text.size() || result.exitCode < 0 ||
        result.exitCode > 255) {
      return complain(kExitCode, fmt::format("\"{}\" is not a number from 0 to 255", text));
    }
  }
  result.exitReason = textAt(pod, {"metadata", "annotations", kReason});
  return {};
}

Json condition(const char* type, bool status, base::WallTime now, const char* reason = nullptr) {
  Json result = {
      {"type", type}, {"status", status ? "True" : "False"}, {"lastTransitionTime", base::formatTime(now)}};
  result["reason"] = reason == nullptr ? Json(nullptr) : Json(reason);
  return result;
}

std::string statusPatch(const KubeletPod& pod, Json status) {
  const Json patch = {{"metadata", {{"uid", pod.pod.uid.str()}}}, {"status", std::move(status)}};
  return dumpJson(patch);
}

Json containerStatus(const KubeletContainer& container, bool ready, Json state) {
  return {{"name", container.name},   {"image", container.image}, {"imageID", ""},
          {"ready", ready},           {"started", ready},         {"restartCount", 0},
          {"state", std::move(state)}};
}

Json terminated(int exitCode, std::string_view reason, base::WallTime started, base::WallTime now) {
  return {{"terminated",
           {{"exitCode", exitCode},
            {"reason", std::string(reason)},
            {"startedAt", base::formatTime(started)},
            {"finishedAt", base::formatTime(now)}}}};
}

}  // namespace

base::Result<std::chrono::microseconds> parseGoDuration(std::string_view text) {
  const auto bad = [&] {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("\"{}\" is not a duration such as 90s or 1m30s", text));
  };
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 6e7}, {"h", 3.6e9}};
  std::string_view rest = text;
  if (rest.empty()) return bad();
  double total = 0;
  while (!rest.empty()) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc() || !(number >= 0)) return bad();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::size_t length = std::min(rest.find_first_of("0123456789."), rest.size());
    const std::string_view unit = rest.substr(0, length);
    double factor = 0;
    for (const auto& [name, size] : kUnits) {
      if (name == unit) factor = size;
    }
    if (factor == 0) return bad();
    total += number * factor;
    rest.remove_prefix(length);
  }
  constexpr double kTooLong = 1e15;  // 30 years
  if (total > kTooLong) return bad();
  return std::chrono::microseconds(static_cast<std::int64_t>(total));
}

base::Result<KubeletPod> decodeKubeletPod(std::string_view json) {
  auto pod = codec::decodePod(json);
  if (!pod) return base::fail(pod.error());
  const auto document = codec::JsonDocument::parseObject(json);
  if (!document) return base::fail(document.error());
  const JsonValue root = document->root();
  KubeletPod result;
  result.pod = std::move(*pod);
  result.initContainers = readContainers(root, "initContainers");
  result.containers = readContainers(root, "containers");
  result.grace =
      std::chrono::seconds(valueAt(root, {"metadata", "deletionGracePeriodSeconds"}).integer().value_or(0));
  result.toleratesLostNode = readToleration(root);
  if (auto read = readAnnotations(root, result); !read) return base::fail(read.error());
  return result;
}

std::string runningPatch(const KubeletPod& pod, std::string_view podIp, base::WallTime now) {
  const std::string time = base::formatTime(now);
  Json conditions = Json::array();
  for (const char* type : {"Initialized", "Ready", "ContainersReady"})
    conditions.push_back(condition(type, true, now));
  Json containers = Json::array();
  for (const KubeletContainer& each : pod.containers) {
    containers.push_back(containerStatus(each, true, {{"running", {{"startedAt", time}}}}));
  }
  Json init = Json::array();
  for (const KubeletContainer& each : pod.initContainers) {
    init.push_back(each.sidecar ? containerStatus(each, true, {{"running", {{"startedAt", time}}}})
                                : containerStatus(each, true, terminated(0, "Completed", now, now)));
  }
  Json status = {{"phase", "Running"},
                 {"conditions", conditions},
                 {"containerStatuses", containers},
                 {"podIP", std::string(podIp)},
                 {"startTime", time}};
  if (!init.empty()) status["initContainerStatuses"] = init;
  return statusPatch(pod, std::move(status));
}

std::string endedPatch(const KubeletPod& pod, int exitCode, std::string_view reason, base::WallTime started,
                       base::WallTime now) {
  const bool good = exitCode == 0;
  Json conditions = Json::array();
  for (const char* type : {"Ready", "ContainersReady"}) {
    conditions.push_back(condition(type, false, now, good ? "PodCompleted" : "PodFailed"));
  }
  Json containers = Json::array();
  for (const KubeletContainer& each : pod.containers) {
    containers.push_back(containerStatus(each, false, terminated(exitCode, reason, started, now)));
  }
  return statusPatch(pod, {{"phase", good ? "Succeeded" : "Failed"},
                           {"conditions", conditions},
                           {"containerStatuses", containers}});
}

std::string refusedPatch(const KubeletPod& pod, std::string_view reason, std::string_view message,
                         base::WallTime now) {
  return statusPatch(pod, {{"phase", "Failed"},
                           {"reason", std::string(reason)},
                           {"message", std::string(message)},
                           {"startTime", base::formatTime(now)}});
}

}  // namespace trainyard::sim
