#include "codec/leader_worker_set.h"

#include <charconv>

#include <fmt/format.h>

#include "codec/decode_object.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kSet = "leaderworkerset.sigs.k8s.io/name";
constexpr std::string_view kGroup = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view kWorker = "leaderworkerset.sigs.k8s.io/worker-index";
constexpr int kMaxSize = 10'000;

std::optional<int> indexOf(const JsonValue& labels, std::string_view name) {
  const std::string_view text = labels.find(name).string().value_or("");
  int index = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool isIndex = failure == std::errc{} && end == text.data() + text.size() && index >= 0;
  return isIndex ? std::optional(index) : std::nullopt;
}

RoleOfPods roleOf(std::string_view name, int replicas, const Field& podTemplate) {
  if (!podTemplate["spec"].present()) podTemplate.complain("has no spec");
  return {std::string(name), replicas, std::string(podTemplate.value().minified())};
}

std::vector<RoleOfPods> readRoles(const Field& root) {
  const Field group = root["spec"]["leaderWorkerTemplate"];
  const int size = group["size"].smallInteger(1, 1, kMaxSize);
  const Field worker = group["workerTemplate"];
  const Field leader = group["leaderTemplate"];
  std::vector<RoleOfPods> roles{roleOf("leader", 1, leader.present() ? leader : worker)};
  if (size > 1) roles.push_back(roleOf("worker", size - 1, worker));
  return roles;
}

}  // namespace

std::optional<GroupMember> readGroupMember(const Field& podMetadata) {
  const JsonValue labels = podMetadata["labels"].value();
  const auto group = indexOf(labels, kGroup);
  const auto worker = indexOf(labels, kWorker);
  std::string set(labels.find(kSet).string().value_or(""));
  if (set.empty() || !group || !worker) return std::nullopt;
  return GroupMember{std::move(set), *group, *worker};
}

base::Result<std::vector<RoleOfPods>> rolesOfLeaderWorkerSet(std::string_view set) {
  return decodeObject("LeaderWorkerSet", set, readRoles);
}

}  // namespace trainyard::codec
