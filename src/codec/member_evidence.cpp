#include "codec/member_evidence.h"

#include <climits>

#include "codec/decode_object.h"

namespace trainyard::codec {
namespace {

using model::ContainerEvidence;

// The limits of container statuses and conditions that are read from one pod; the rest is ignored.
constexpr std::size_t kMaxContainers = 128;
constexpr std::size_t kMaxConditions = 64;

model::PodPhase phaseNamed(std::string_view text) {
  if (text == "Pending") return model::PodPhase::kPending;
  if (text == "Running") return model::PodPhase::kRunning;
  if (text == "Succeeded") return model::PodPhase::kSucceeded;
  if (text == "Failed") return model::PodPhase::kFailed;
  return model::PodPhase::kUnknown;
}

void readEnd(const Field& terminated, ContainerEvidence& into) {
  into.ended = true;
  into.exitCode = terminated["exitCode"].smallInteger(0, INT_MIN);
  into.signal = terminated["signal"].smallInteger(0, INT_MIN);
  into.reason = terminated["reason"].string();
  into.message = terminated["message"].string();
  into.finishedAt = terminated["finishedAt"].time();
}

ContainerEvidence readContainer(const Field& status) {
  ContainerEvidence container{.name = status["name"].string()};
  const Field state = status["state"];
  if (const Field waiting = state["waiting"]; waiting.present()) {
    container.waitingReason = waiting["reason"].string();
    container.waitingMessage = waiting["message"].string();
    // The container waits for its next restart: how it last ended is the evidence.
    const Field last = status["lastState"]["terminated"];
    if (last.present()) readEnd(last, container);
  }
  if (const Field terminated = state["terminated"]; terminated.present()) readEnd(terminated, container);
  return container;
}

void readContainers(const Field& statuses, model::MemberEvidence& into) {
  statuses.forEachElement([&](const Field& status) {
    if (into.containers.size() < kMaxContainers) into.containers.push_back(readContainer(status));
  });
}

}  // namespace

void readPodEnd(const Field& status, model::MemberEvidence& into) {
  into.phase = phaseNamed(status["phase"].text());
  into.reason = status["reason"].string();
  into.message = status["message"].string();
  status["conditions"].forEachElement([&](const Field& condition) {
    if (into.conditions.size() == kMaxConditions) return;
    into.conditions.push_back({condition["type"].string(), condition["status"].text() == "True",
                               condition["reason"].string(), condition["message"].string()});
  });
  readContainers(status["initContainerStatuses"], into);
  readContainers(status["containerStatuses"], into);
}

base::Result<model::MemberEvidence> decodePodEnd(std::string_view pod) {
  return decodeObject("pod", pod, [](const Field& root) {
    model::MemberEvidence member;
    member.node = root["spec"]["nodeName"].string();
    readPodEnd(root["status"], member);
    return member;
  });
}

}  // namespace trainyard::codec
