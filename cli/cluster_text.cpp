#include "cli/cluster_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"
#include "core/place/suspicion.h"
#include "model/gang_size.h"

namespace trainyard::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kGangsNamed = 3;

struct OnNode {
  std::int64_t gpus = 0;
  std::set<std::string> gangs;
  std::size_t strangers = 0;  // pods with GPUs that belong to no TrainingJob
};

std::map<model::NodeName, OnNode> useOf(const model::Snapshot& snapshot) {
  std::map<model::Uid, std::string> names;
  for (const auto& job : snapshot.jobs) names.emplace(job->uid, fmt::format("{}", job->key));
  std::map<model::NodeName, OnNode> used;
  for (const auto& pod : snapshot.pods) {
    if (pod->node.str().empty() || pod->finished()) continue;
    OnNode& node = used[pod->node];
    node.gpus += pod->shape.requests.gpus();
    const auto gang = names.find(pod->controllerUid);
    if (gang != names.end()) {
      node.gangs.insert(gang->second);
    } else if (pod->shape.requests.gpus() > 0) {
      ++node.strangers;
    }
  }
  return used;
}

std::set<model::NodeName> suspects(const model::Snapshot& snapshot) {
  std::vector<std::shared_ptr<const model::Job>> accusing;
  for (const auto& job : snapshot.jobs) {
    if (core::accusesNode(*job)) accusing.push_back(job);
  }
  const auto found = core::suspectedNodes(accusing, snapshot.jobs, snapshot.policy, snapshot.now);
  return {found.begin(), found.end()};
}

std::string stateOf(const model::Node& node, bool suspected) {
  std::vector<std::string> words;
  if (!node.ready) words.emplace_back("NotReady");
  if (node.unschedulable) words.emplace_back("cordoned");
  if (node.deleting) words.emplace_back("deleting");
  if (suspected) words.emplace_back("suspected");
  return words.empty() ? "Ready" : fmt::format("{}", fmt::join(words, ","));
}

std::string gangsOf(const OnNode& node) {
  std::vector<std::string> words;
  for (const std::string& gang : node.gangs) {
    if (words.size() == kGangsNamed) break;
    words.push_back(gang);
  }
  if (node.gangs.size() > kGangsNamed)
    words.push_back(fmt::format("{} more", node.gangs.size() - kGangsNamed));
  if (node.strangers > 0) words.push_back(fmt::format("{} other pods", node.strangers));
  return fmt::format("{}", fmt::join(words, ", "));
}

struct Held {
  std::string name;
  std::string queue;
  std::string phase;
  std::int64_t gpus = 0;
  base::WallTime since{};
};

std::string mostFirst(std::vector<Held> jobs, std::size_t count, base::WallTime now) {
  std::sort(jobs.begin(), jobs.end(), [](const Held& a, const Held& b) {
    return a.gpus != b.gpus ? a.gpus > b.gpus : a.name < b.name;
  });
  Rows rows = {{"JOB", "QUEUE", "GPUS", "PHASE", "AGE"}};
  for (const Held& job : jobs) {
    if (rows.size() > count) break;
    rows.push_back({job.name, job.queue, fmt::to_string(job.gpus), job.phase, formatAge(job.since, now)});
  }
  std::string text = formatTable(rows);
  if (jobs.size() > count) text += fmt::format("and {} more\n", jobs.size() - count);
  return text;
}

}  // namespace

std::string nodesTable(const model::Snapshot& snapshot, bool all) {
  const auto used = useOf(snapshot);
  const auto suspected = suspects(snapshot);
  Rows rows = {{"NODE", "GPUS", "USED", "STATE", "GANGS"}};
  std::int64_t allocatable = 0;
  std::int64_t taken = 0;
  std::vector<std::shared_ptr<const model::Node>> nodes(snapshot.nodes.begin(), snapshot.nodes.end());
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  for (const auto& node : nodes) {
    const std::int64_t gpus = node->allocatable.gpus();
    if (gpus == 0 && !all) continue;
    const auto here = used.find(node->name);
    const OnNode nothing;
    const OnNode& use = here == used.end() ? nothing : here->second;
    allocatable += gpus;
    taken += use.gpus;
    rows.push_back({node->name.str(), fmt::to_string(gpus), fmt::to_string(use.gpus),
                    stateOf(*node, suspected.contains(node->name)), gangsOf(use)});
  }
  const std::size_t count = rows.size() - 1;
  return formatTable(rows) + fmt::format("{} nodes, {} of {} GPUs used\n", count, taken, allocatable);
}

std::string topTable(const model::Snapshot& snapshot, std::size_t count) {
  struct QueueUse {
    std::int64_t gpus = 0;
    int running = 0;
    int waiting = 0;
  };
  std::map<std::string, QueueUse> queues;
  for (const auto& queue : snapshot.queues) queues[queue->name.str()];
  std::vector<Held> jobs;
  for (const auto& job : snapshot.jobs) {
    if (job->finished()) continue;
    QueueUse& queue = queues[job->spec.queue.str()];
    if (!job->status.gang.placed) {
      queue.waiting += job->status.pending ? 1 : 0;
      continue;
    }
    const std::int64_t gpus = model::placedGpus(job->spec, job->status.gang);
    queue.gpus += gpus;
    ++queue.running;
    jobs.push_back(
        {fmt::format("{}", job->key), job->spec.queue.str(), job->status.phase, gpus, job->created});
  }
  std::int64_t all = 0;
  for (const auto& node : snapshot.nodes) all += node->allocatable.gpus();
  std::vector<std::pair<std::string, QueueUse>> sorted(queues.begin(), queues.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.gpus > b.second.gpus; });
  Rows rows = {{"QUEUE", "GPUS", "OF ALL", "PLACED", "WAITING"}};
  for (const auto& [name, use] : sorted) {
    rows.push_back({name, fmt::to_string(use.gpus),
                    all == 0 ? "" : fmt::format("{} %", (use.gpus * 100 + all / 2) / all),
                    fmt::to_string(use.running), fmt::to_string(use.waiting)});
  }
  std::string text = rows.size() > 1 ? formatTable(rows) + "\n" : "";
  return jobs.empty() ? text + "No job has its places.\n"
                      : text + mostFirst(std::move(jobs), count, snapshot.now);
}

}  // namespace trainyard::cli
