#include "cli/drain_plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/table.h"
#include "codec/json_writer.h"
#include "core/order/preemption_cost.h"
#include "model/member_of.h"

namespace trainyard::cli {
namespace {

// Returns the pods that have not ended, by owner.
std::map<model::Uid, std::vector<model::ObjectKey>> podsOn(const model::Snapshot& snapshot,
                                                           const model::NodeName& node) {
  std::map<model::Uid, std::vector<model::ObjectKey>> pods;
  for (const auto& pod : snapshot.pods) {
    if (pod->node == node && !pod->finished()) pods[model::gangUidOf(*pod)].push_back(pod->key);
  }
  return pods;
}

}  // namespace

std::vector<DrainedGang> planDrain(const model::Snapshot& snapshot, const model::NodeName& node, bool force) {
  std::vector<DrainedGang> gangs;
  const auto pods = podsOn(snapshot, node);
  for (const auto& job : snapshot.jobs) {
    const auto here = pods.find(job->uid);
    if (here == pods.end()) continue;
    DrainedGang gang{.job = job->key, .members = here->second};
    gang.keepsWork = core::isCheckpointable(job->spec);
    gang.stays = !gang.keepsWork && !force;
    gang.lostGpuSeconds = core::lostWork(*job, snapshot);
    gangs.push_back(std::move(gang));
  }
  return gangs;
}

std::string drainTable(const model::NodeName& node, const std::vector<DrainedGang>& gangs) {
  if (gangs.empty()) return fmt::format("No member of a gang runs on node {}.\n", node);
  std::vector<std::vector<std::string>> rows = {{"JOB", "MEMBERS HERE", "LOST WORK", "WHAT HAPPENS"}};
  for (const DrainedGang& gang : gangs) {
    rows.push_back({fmt::format("{}", gang.job), fmt::to_string(gang.members.size()),
                    formatWork(gang.lostGpuSeconds),
                    gang.stays       ? "stays: it declares no checkpoint and would lose its work"
                    : gang.keepsWork ? "continues elsewhere from its checkpoint"
                                     : "restarts elsewhere and loses its work (--force)"});
  }
  std::string text = formatTable(rows);
  const auto staying = std::count_if(gangs.begin(), gangs.end(), [](const auto& each) { return each.stays; });
  if (staying > 0) {
    text += fmt::format(
        "{} of {} gangs block the drain: wait until they end, or use --force, and they lose that work.\n",
        staying, gangs.size());
  }
  return text;
}

std::string drainJson(const model::NodeName& node, const DrainResult& result) {
  codec::JsonWriter out;
  out.beginObject().member("node", node.str()).memberBool("unschedulable", result.cordoned);
  out.key("items").beginArray();
  for (const DrainedGang& gang : result.gangs) {
    const bool there = std::any_of(result.there.begin(), result.there.end(),
                                   [&](const DrainedGang& each) { return each.job == gang.job; });
    out.beginObject().member("namespace", gang.job.ns).member("name", gang.job.name);
    out.key("members").beginArray();
    for (const model::ObjectKey& each : gang.members)
      out.beginObject().member("namespace", each.ns).member("name", each.name).endObject();
    out.endArray().memberBool("keepsWork", gang.keepsWork).memberBool("stays", gang.stays);
    out.member("lostGpuSeconds", gang.lostGpuSeconds).memberBool("left", !there).endObject();
  }
  out.endArray().endObject();
  return std::move(out).take() + "\n";
}

}  // namespace trainyard::cli
