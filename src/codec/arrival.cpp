#include "codec/arrival.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codec/gang_name_of.h"
#include "codec/leader_worker_set.h"
#include "codec/pod_group.h"
#include "model/gang_name.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

// The index that a controller gives to its pod.
constexpr std::array<std::string_view, 3> kIndexLabels{"batch.kubernetes.io/job-completion-index",
                                                       "training.kubeflow.org/replica-index",
                                                       "apps.kubernetes.io/pod-index"};
// The index that a controller gives to a group of its pods, within their role.
constexpr std::array<std::string_view, 1> kGroupLabels{"jobset.sigs.k8s.io/job-index"};

template <std::size_t N>
int indexIn(const JsonValue& labels, const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names) {
    const std::string_view text = labels.find(name).string().value_or("");
    int rank = -1;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (!text.empty() && failure == std::errc{} && end == text.data() + text.size() && rank >= 0) return rank;
  }
  return -1;
}

bool hasPlaceGate(const Field& podSpec) {
  bool has = false;
  podSpec["schedulingGates"].forEachElement(
      [&](const Field& gate) { has = has || gate["name"].text() == model::names::kPlaceGate; });
  return has;
}

}  // namespace

std::optional<model::Arrival> readArrival(const Field& metadata, const Field& podSpec) {
  if (!hasPlaceGate(podSpec)) return std::nullopt;
  const JsonValue labels = metadata["labels"].value();
  const std::string_view gang = labels.find(model::names::kGangLabel).string().value_or("");
  const bool isQueued = !labels.find(model::names::kQueueLabel).string().value_or("").empty();
  const std::string role(labels.find(model::names::kGangRoleLabel).string().value_or(kDefaultGangRole));
  const auto ranked = [&](std::string name) {
    return model::Arrival{std::move(name), role, indexIn(labels, kIndexLabels),
                          indexIn(labels, kGroupLabels)};
  };
  if (!gang.empty()) return ranked(model::isGangName(gang) ? std::string(gang) : gangNameOf(gang, "pods"));
  if (!isQueued) return std::nullopt;
  if (const auto member = readGroupMember(metadata)) {
    const std::string group = fmt::format("{}-{}", member->set, member->group);
    return model::Arrival{gangNameOf(group, "group"), member->role(), member->rank()};
  }
  if (const std::string group = podGroupOf(podSpec); !group.empty()) return ranked(gangNameOf(group, "pods"));
  return model::Arrival{gangNameOf(metadata["name"].text(), "pod"), role};
}

}  // namespace trainyard::codec
