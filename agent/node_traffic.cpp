#include "agent/node_traffic.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "model/process_group.h"

namespace trainyard::agent {
namespace {

using model::TrafficPod;

bool ordered(const TrafficPod& pod) {
  if (pod.jobUid.str().empty() || pod.finished || pod.order.off || pod.addresses.empty()) return false;
  return pod.order.band.has_value() || model::sendsParameters(pod.role);
}

std::vector<FlowKey> flowsOf(const TrafficPod& pod) {
  std::vector<FlowKey> flows;
  for (const std::string& text : pod.addresses) {
    const auto address = parseIpAddress(text);
    if (!address) continue;
    if (!pod.hostNetwork) flows.push_back({*address, 0});
    for (const int port : pod.ports) {
      if (port > 0) flows.push_back({*address, static_cast<std::uint16_t>(port)});
    }
  }
  return flows;
}

// A job is ranked by its first member. All nodes read equal annotations, so they agree on the rank.
void rank(const TrafficPod& pod, core::RankedJob& job) {
  const base::WallTime since = pod.order.since.value_or(pod.created);
  if (job.since == base::WallTime{} || since < job.since) job.since = since;
  if (pod.order.band) job.fixedBand = pod.order.band;
  if (!pod.order.expected || !pod.started) return;
  const base::WallTime end = *pod.started + *pod.order.expected;
  if (!job.expectedEnd || end < *job.expectedEnd) job.expectedEnd = end;
}

}  // namespace

NodeTraffic nodeTraffic(const std::vector<std::shared_ptr<const TrafficPod>>& pods) {
  std::vector<const TrafficPod*> sorted;
  for (const auto& each : pods) {
    if (ordered(*each)) sorted.push_back(each.get());
  }
  std::sort(sorted.begin(), sorted.end(), [](const TrafficPod* a, const TrafficPod* b) {
    return std::tie(a->created, a->uid) < std::tie(b->created, b->uid);
  });
  NodeTraffic traffic;
  std::map<std::string, NodeJob> jobs;
  std::map<FlowKey, std::string> owners;
  for (const TrafficPod* pod : sorted) {
    const auto flows = flowsOf(*pod);
    if (flows.empty()) {
      traffic.unknown.push_back(fmt::format("{}", pod->key));
      continue;
    }
    ++traffic.pods;
    NodeJob& job = jobs[pod->jobUid.str()];
    rank(*pod, job.rank);
    for (const FlowKey& flow : flows) owners[flow] = pod->jobUid.str();
  }
  for (const auto& [flow, uid] : owners) jobs[uid].traffic.flows.push_back(flow);
  for (auto& [uid, job] : jobs) {
    if (job.traffic.flows.empty()) continue;
    job.traffic.uid = job.rank.uid = uid;
    traffic.jobs.push_back(std::move(job));
  }
  return traffic;
}

}  // namespace trainyard::agent
