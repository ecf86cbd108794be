#include "launch/member_environment.h"

#include <unistd.h>

#include <charconv>
#include <string_view>
#include <vector>

namespace trainyard::launch {
namespace {

// The number of generations with ports of their own: 29,500 plus this number stays below 30,000, where the
// node ports of Kubernetes begin.
constexpr std::int64_t kPorts = 400;

std::optional<int> numberIn(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  int number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

void replace(Environment& environment, const std::string& name, int before, int now) {
  if (numberIn(environment, name) == before) environment[name] = std::to_string(now);
}

void movePort(Environment& environment, const std::string& name, std::int64_t generation) {
  if (const auto port = numberIn(environment, name))
    environment[name] = std::to_string(*port + generation % kPorts);
}

// Moves the port of a variable of the form "host:port".
void movePortOfAddress(Environment& environment, const std::string& name, std::int64_t generation) {
  const auto found = environment.find(name);
  if (found == environment.end()) return;
  const std::size_t colon = found->second.rfind(':');
  if (colon == std::string::npos) return;
  Environment port{{"port", found->second.substr(colon + 1)}};
  movePort(port, "port", generation);
  found->second = found->second.substr(0, colon + 1) + port["port"];
}

// Replaces the members of the role in TF_CONFIG,
// `"worker":["JOB-worker-0.DOMAIN:2222",…]`, with those of the present size.
void resizeTensorFlow(Environment& environment, const Membership& now) {
  const auto found = environment.find("TF_CONFIG");
  if (found == environment.end()) return;
  std::string& config = found->second;
  const std::string name = '"' + now.role + "\":[";
  const std::size_t list = config.find(name);
  if (list == std::string::npos) return;
  const std::size_t begin = list + name.size();
  const std::size_t end = config.find(']', begin);
  const std::size_t zero = config.find('-' + now.role + "-0.", begin);
  if (end == std::string::npos || zero == std::string::npos || zero > end) return;
  const std::string before = config.substr(begin, zero + 2 + now.role.size() - begin);  // `"JOB-worker-`
  const std::size_t tail = zero + 3 + now.role.size();
  const std::string after = config.substr(tail, config.find('"', tail) + 1 - tail);  // `.DOMAIN:2222"`
  std::string members;
  for (int i = 0; i < now.size; ++i) members += (i == 0 ? "" : ",") + before + std::to_string(i) + after;
  config.replace(begin, end - begin, members);
}

}  // namespace

Environment ownEnvironment() {
  Environment found;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return found;
}

Member memberOf(const Environment& environment) {
  Member member;
  if (const auto role = environment.find("TRAINYARD_ROLE"); role != environment.end())
    member.role = role->second;
  member.index = numberIn(environment, "TRAINYARD_INDEX").value_or(0);
  member.rank = numberIn(environment, "TRAINYARD_RANK");
  member.groupSize = numberIn(environment, "TRAINYARD_SIZE").value_or(1);
  member.replicas = numberIn(environment, "TRAINYARD_REPLICAS").value_or(1);
  member.elasticSize = numberIn(environment, "TRAINYARD_ELASTIC_SIZE");
  return member;
}

bool belongs(const Member& member, const Membership& now) {
  return member.role != now.role || member.index < now.size;
}

Environment environmentAt(const Environment& own, const Membership& born, const Membership& now) {
  Environment changed = own;
  const Member member = memberOf(own);
  const int sizeAtBirth = member.role == now.role ? member.replicas : member.elasticSize.value_or(born.size);
  const int size = member.groupSize - sizeAtBirth + now.size;
  changed["TRAINYARD_EPOCH"] = std::to_string(now.generation);
  changed["TRAINYARD_GENERATION"] = std::to_string(now.generation);
  if (member.role == now.role) changed["TRAINYARD_REPLICAS"] = std::to_string(now.size);
  if (member.rank) {
    changed["TRAINYARD_SIZE"] = std::to_string(size);
    for (const char* name : {"WORLD_SIZE", "PET_NNODES", "JAX_NUM_PROCESSES"})
      replace(changed, name, member.groupSize, size);
    for (const char* name : {"MASTER_PORT", "PET_MASTER_PORT", "JAX_COORDINATOR_PORT"})
      movePort(changed, name, now.generation);
    movePortOfAddress(changed, "JAX_COORDINATOR_ADDRESS", now.generation);
  }
  if (now.role == "worker") replace(changed, "DMLC_NUM_WORKER", sizeAtBirth, now.size);
  resizeTensorFlow(changed, now);
  return changed;
}

}  // namespace trainyard::launch
