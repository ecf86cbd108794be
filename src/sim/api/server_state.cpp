#include "sim/api/server_state.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace trainyard::sim {

std::string ServerState::newUid() {
  const std::uint64_t high = rng.next();
  const std::uint64_t low = rng.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF, high & 0xFFF,
                     0x8000 | ((low >> 48) & 0x3FFF), low & 0xFFFF'FFFF'FFFF);
}

std::string ServerState::randomSuffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[rng.below(kLetters.size())];
  return suffix;
}

AdmissionView ServerState::view() {
  AdmissionView view;
  view.get = [this](const std::string& plural, const std::string& space, const std::string& name) {
    return store.get(plural, {space, name}).get();
  };
  view.list = [this](const std::string& plural, const std::string& space) {
    std::vector<const Json*> found;
    for (const auto& [key, object] : store.table(plural)) {
      if (space.empty() || key.first == space) found.push_back(object.get());
    }
    return found;
  };
  view.now = clock();
  view.rng = &rng;
  return view;
}

void installDefaults(ServerState& state) {
  const auto meta = [&state](const std::string& name) {
    return Json{
        {"name", name}, {"uid", state.newUid()}, {"creationTimestamp", base::formatTime(state.clock())}};
  };
  for (const std::string name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    Json space = {{"metadata", meta(name)},
                  {"spec", {{"finalizers", {"kubernetes"}}}},
                  {"status", {{"phase", "Active"}}}};
    space["metadata"]["labels"] = {{"kubernetes.io/metadata.name", name}};
    state.store.put("namespaces", {"", name}, std::move(space));
    Json account = {{"metadata", meta("default")}};
    account["metadata"]["namespace"] = name;
    state.store.put("serviceaccounts", {name, "default"}, std::move(account));
  }
  const auto priority = [&](const std::string& name, std::int64_t value, const std::string& text) {
    Json object = {{"metadata", meta(name)},
                   {"value", value},
                   {"description", text},
                   {"preemptionPolicy", "PreemptLowerPriority"}};
    object["metadata"]["generation"] = 1;
    state.store.put("priorityclasses", {"", name}, std::move(object));
  };
  priority("system-cluster-critical", 2'000'000'000,
           "Used for system critical pods that must run in the cluster, but can be moved to another node if "
           "necessary.");
  priority("system-node-critical", 2'000'001'000,
           "Used for system critical pods that must not be moved from their current node.");
  // No client can have seen the history so far.
  state.store.forget();
}

}  // namespace trainyard::sim
