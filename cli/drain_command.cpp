#include "cli/drain_command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cluster_client.h"
#include "cli/command.h"
#include "cli/drain_plan.h"
#include "cli/plain_text.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

constexpr int kEmpty = 0;
constexpr int kSomeStay = 1;
constexpr int kDrainFailed = 2;
// A user watches the output, and pods need seconds to end.
constexpr std::chrono::seconds kDrainCheck{1};

struct DrainFlags {
  ConnectFlags connect;
  std::string node;
  bool force = false;
  bool dryRun = false;
  int timeoutSeconds = 600;
  std::string output = "table";
};

base::Result<void> cordon(ClusterClient& client, const std::string& node) {
  const auto done = client.patch(kube::kNodes.object("", node), R"({"spec":{"unschedulable":true}})");
  if (!done)
    return base::fail(done.error().code, fmt::format("cordoning {}: {}", node, done.error().message));
  return {};
}

// Uses the eviction API, which respects PodDisruptionBudgets. A pod that no longer exists counts as evicted.
// Error 429 means an exhausted budget or an overloaded server: the eviction is repeated later.
base::Result<void> evict(ClusterClient& client, const model::ObjectKey& pod) {
  const std::string body = fmt::format(
      R"({{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{}","namespace":"{}"}}}})",
      pod.name, pod.ns);
  const auto done = client.post(kube::kPods.object(pod.ns, pod.name, "eviction"), body, {});
  if (done || done.error().code == base::ErrorCode::kNotFound) return {};
  return base::fail(done.error().code, fmt::format("evicting {}: {}", pod, done.error().message));
}

base::Result<std::vector<DrainedGang>> gangsLeft(ClusterClient& client, const DrainFlags& flags) {
  const auto snapshot = client.snapshot();
  if (!snapshot) return base::fail(snapshot.error());
  const model::NodeName node(flags.node);
  const bool known = std::any_of(snapshot->nodes.begin(), snapshot->nodes.end(),
                                 [&](const auto& each) { return each->name == node; });
  if (!known)
    return base::fail(base::ErrorCode::kNotFound,
                      fmt::format("node {} not found ({})", node, client.source()));
  return planDrain(*snapshot, node, flags.force);
}

// Evicts every member that has to leave and was not evicted yet. The gang restarts as a whole once one member
// is evicted; all are evicted so that none stays on the node. Returns the last transient error, or empty.
base::Result<std::string> requestDrain(ClusterClient& client, const std::vector<DrainedGang>& gangs,
                                       std::set<model::ObjectKey>& asked) {
  std::string refusal;
  for (const DrainedGang& gang : gangs) {
    if (gang.stays) continue;
    for (const model::ObjectKey& member : gang.members) {
      if (asked.count(member) != 0) continue;
      const auto done = evict(client, member);
      if (done) {
        asked.insert(member);
        continue;
      }
      if (!mayPass(done.error().code)) return base::fail(done.error());
      refusal = done.error().message;
    }
  }
  return refusal;
}

bool noneStays(const std::vector<DrainedGang>& gangs) {
  return std::none_of(gangs.begin(), gangs.end(), [](const DrainedGang& each) { return each.stays; });
}

bool noneLeaves(const std::vector<DrainedGang>& gangs) {
  return std::all_of(gangs.begin(), gangs.end(), [](const DrainedGang& each) { return each.stays; });
}

// Evicts until the node has no gangs that have to leave, including those placed just before the cordon.
base::Result<std::vector<DrainedGang>> empty(ClusterClient& client, const DrainFlags& flags,
                                             std::vector<DrainedGang> gangs) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(flags.timeoutSeconds);
  std::set<model::ObjectKey> asked;
  for (;;) {
    const auto refusal = requestDrain(client, gangs, asked);
    if (!refusal) return base::fail(refusal.error());
    std::this_thread::sleep_for(kDrainCheck);
    auto left = gangsLeft(client, flags);
    if (left && noneLeaves(*left)) return left;
    if (!left && !mayPass(left.error().code)) return left;
    if (std::chrono::steady_clock::now() >= end) {
      if (!left) return left;
      const auto leaving =
          std::find_if(left->begin(), left->end(), [](const DrainedGang& each) { return !each.stays; });
      return base::fail(
          base::ErrorCode::kUnavailable,
          fmt::format("members of {} are still on node {} after {} s{}{}", leaving->job, flags.node,
                      flags.timeoutSeconds, refusal->empty() ? "" : ": ", *refusal));
    }
    if (left) gangs = *std::move(left);
  }
}

base::Result<int> drain(const DrainFlags& flags) {
  auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  auto gangs = gangsLeft(**client, flags);
  if (!gangs) return base::fail(gangs.error());
  const auto outcome = [&](const auto& left) {
    return (flags.dryRun ? noneStays(left) : left.empty()) ? kEmpty : kSomeStay;
  };
  if (!flags.dryRun) {
    if (const auto done = cordon(**client, flags.node); !done) return base::fail(done.error());
    // Includes gangs that were placed between the first gangsLeft and the cordon.
    gangs = gangsLeft(**client, flags);
    if (!gangs) return base::fail(gangs.error());
  }
  const bool table = flags.output == "table";
  const std::vector<DrainedGang> before = *gangs;
  if (table) fmt::print("{}", drainTable(model::NodeName(flags.node), before));
  std::fflush(stdout);
  if (!flags.dryRun && !noneLeaves(before)) gangs = empty(**client, flags, before);
  if (!gangs) return base::fail(gangs.error());
  if (!table) {
    const auto shown = shownAs(flags.output, kJobKind,
                               drainJson(model::NodeName(flags.node), {!flags.dryRun, before, *gangs}));
    if (!shown) return base::fail(shown.error());
    fmt::print("{}", plainText(*shown, true));
  } else if (!flags.dryRun) {
    fmt::print("node {} is cordoned; {} of its gangs remain\n", flags.node, gangs->size());
  }
  return outcome(*gangs);
}

}  // namespace

void addDrainCommand(CLI::App& app, const std::string& program,
                     const std::function<void(std::function<int()>)>& run) {
  auto flags = std::make_shared<DrainFlags>();
  CLI::App* command =
      app.add_subcommand("drain", "cordon a node and move its gangs away; report the gangs that stay");
  command->add_option("NODE", flags->node, "the node")->required();
  command->add_flag("--force", flags->force, "also gangs that lose their work");
  command->add_flag("--dry-run", flags->dryRun, "only report which gangs would leave and which would stay");
  command->add_option("--timeout", flags->timeoutSeconds, "seconds to wait until they have left (600)")
      ->check(CLI::Range(1, 86'400));
  addOutputFlag(command, flags->output);
  addIgnoredNamespaceFlag(command);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run] {
    run([flags, program] {
      const auto status = drain(*flags);
      if (status) return *status;
      fmt::print(stderr, "{} drain: {}\n", program, plainText(status.error().message, true));
      return kDrainFailed;
    });
  });
}

}  // namespace trainyard::cli
