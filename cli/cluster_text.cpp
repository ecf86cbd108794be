#include "cli/cluster_text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"
#include "codec/json_writer.h"
#include "core/queues/holdings.h"
#include "core/queues/queue_tree.h"
#include "core/search/suspicion.h"
#include "model/conditions.h"
#include "model/member_of.h"
#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kGangsNamed = 3;

struct OnNode {
  std::int64_t gpus = 0;
  std::set<model::ObjectKey> gangs;
  std::size_t foreignPods = 0;  // pods with GPUs that belong to no TrainingJob
};

std::map<model::NodeName, OnNode> useOf(const model::Snapshot& snapshot) {
  std::map<model::Uid, model::ObjectKey> names;
  for (const auto& job : snapshot.jobs) names.emplace(job->uid, job->key);
  std::map<model::NodeName, OnNode> used;
  for (const auto& pod : snapshot.pods) {
    if (pod->node.str().empty() || pod->finished()) continue;
    OnNode& node = used[pod->node];
    node.gpus += pod->shape.requests.gpus();
    const auto gang = names.find(model::gangUidOf(*pod));
    if (gang != names.end()) {
      node.gangs.insert(gang->second);
    } else if (pod->shape.requests.gpus() > 0) {
      ++node.foreignPods;
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
  for (const model::ObjectKey& gang : node.gangs) {
    if (words.size() == kGangsNamed) break;
    words.push_back(fmt::to_string(gang));
  }
  if (node.gangs.size() > kGangsNamed)
    words.push_back(fmt::format("{} more", node.gangs.size() - kGangsNamed));
  if (node.foreignPods > 0)
    words.push_back(model::counted(static_cast<std::int64_t>(node.foreignPods), "other pod"));
  return fmt::format("{}", fmt::join(words, ", "));
}

struct NodeUse {
  std::shared_ptr<const model::Node> node;
  bool suspected = false;
  OnNode use;
};

struct NodesUse {
  std::vector<NodeUse> nodes;
  std::int64_t gpus = 0;
  std::int64_t used = 0;
};

NodesUse nodesUse(const model::Snapshot& snapshot, bool all) {
  auto used = useOf(snapshot);
  const auto suspected = suspects(snapshot);
  NodesUse result;
  for (const auto& node : snapshot.nodes) {
    if (node->allocatable.gpus() == 0 && !all) continue;
    result.nodes.push_back({node, suspected.contains(node->name), used[node->name]});
    result.gpus += node->allocatable.gpus();
    result.used += used[node->name].gpus;
  }
  std::sort(result.nodes.begin(), result.nodes.end(),
            [](const auto& a, const auto& b) { return a.node->name < b.node->name; });
  return result;
}

struct Held {
  model::ObjectKey job;
  std::string queue;
  std::string phase;
  std::int64_t gpus = 0;
  base::WallTime since{};
};

struct QueueUse {
  std::int64_t gpus = 0;  // all fields include the queues below it
  int placed = 0;
  int waiting = 0;
};

struct Holders {
  std::vector<std::pair<std::string, QueueUse>> queues;  // sorted by GPUs, the most first
  std::vector<Held> jobs;                                // sorted in the same way
  std::int64_t gpus = 0;                                 // of the cluster
};

std::int64_t gpusOf(const core::QueueTree& tree, const core::Amounts& amounts) {
  return std::accumulate(amounts.begin(),
                         amounts.begin() + static_cast<std::ptrdiff_t>(tree.dimensions().cpu()),
                         std::int64_t{0});
}

// A pending job: neither placed nor refused admission nor suspended.
bool isPending(const model::Job& job) {
  const model::Condition* admitted = job.condition(model::conditions::kAdmitted);
  const bool refused = admitted != nullptr && admitted->status == model::ConditionStatus::kFalse;
  return job.status.pending && !refused && !job.spec.run.suspend;
}

class HoldersReader {
 public:
  explicit HoldersReader(const model::Snapshot& snapshot)
      : snapshot_(snapshot), tree_(snapshot), uses_(tree_.size()) {}

  Holders read() {
    for (std::size_t i = 1; i < uses_.size(); ++i)
      uses_[i].gpus = gpusOf(tree_, tree_.node(i).usage) + gpusOf(tree_, tree_.node(i).leaving);
    for (const auto& job : snapshot_.jobs) {
      if (!job->finished()) add(*job);
    }
    for (const auto& node : snapshot_.nodes) result_.gpus += node->allocatable.gpus();
    for (std::size_t i = 1; i < uses_.size(); ++i) {
      const QueueUse& use = uses_[i];
      const bool isUsed = use.gpus > 0 || use.placed > 0 || use.waiting > 0;
      if (tree_.node(i).queue != nullptr || isUsed) result_.queues.emplace_back(tree_.node(i).name, use);
    }
    for (const auto& [name, use] : missing_) {
      if (use.placed > 0) result_.queues.emplace_back(name, use);
    }
    std::stable_sort(result_.queues.begin(), result_.queues.end(),
                     [](const auto& a, const auto& b) { return a.second.gpus > b.second.gpus; });
    std::sort(result_.jobs.begin(), result_.jobs.end(), [](const Held& a, const Held& b) {
      return a.gpus != b.gpus ? a.gpus > b.gpus : a.job < b.job;
    });
    return std::move(result_);
  }

 private:
  void add(const model::Job& job) {
    const std::string name = tree_.queueNameOf(job).str();
    const model::GangRecord& gang = job.status.gang;
    const bool holds = gang.placed || gang.proposal;
    const std::int64_t gpus = holds ? gpusOf(tree_, holdingsOf(tree_.capacity(), job)) : 0;
    if (holds) result_.jobs.push_back({job.key, name, job.status.phase, gpus, job.created});
    const auto count = [&](QueueUse& use) {
      use.placed += holds ? 1 : 0;
      use.waiting += !holds && isPending(job) ? 1 : 0;
    };
    const auto queue = tree_.find(model::QueueName(name));
    if (queue) {
      for (const auto at : tree_.node(*queue).path) count(uses_[at]);
    } else {
      count(missing_[name]);
      missing_[name].gpus += gpus;
    }
  }

  const model::Snapshot& snapshot_;
  core::QueueTree tree_;
  std::vector<QueueUse> uses_;               // by index
  std::map<std::string, QueueUse> missing_;  // charged to queues that do not exist
  Holders result_;
};

std::string jobsTable(const std::vector<Held>& jobs, std::size_t count, base::WallTime now) {
  Rows rows = {{"JOB", "QUEUE", "GPUS", "PHASE", "AGE"}};
  for (const Held& each : jobs) {
    if (rows.size() > count) break;
    rows.push_back({fmt::to_string(each.job), each.queue, fmt::to_string(each.gpus), each.phase,
                    formatAge(each.since, now)});
  }
  std::string text = formatTable(rows);
  if (jobs.size() > count) text += fmt::format("and {} more\n", jobs.size() - count);
  return text;
}

}  // namespace

std::string nodesTable(const model::Snapshot& snapshot, bool all) {
  const NodesUse use = nodesUse(snapshot, all);
  Rows rows = {{"NODE", "TYPE", "GPUS", "USED", "FREE", "STATE", "GANGS"}};
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> states;  // nodes, free GPUs
  for (const NodeUse& each : use.nodes) {
    const std::string* type = each.node->labels.find(model::names::kGpuProductLabel);
    const std::string state = stateOf(*each.node, each.suspected);
    const std::int64_t free = std::max<std::int64_t>(each.node->allocatable.gpus() - each.use.gpus, 0);
    rows.push_back({each.node->name.str(), type == nullptr ? "-" : *type,
                    fmt::to_string(each.node->allocatable.gpus()), fmt::to_string(each.use.gpus),
                    fmt::to_string(free), state, gangsOf(each.use)});
    ++states[state].first;
    states[state].second += free;
  }
  std::string text =
      formatTable(rows) + fmt::format("{}, {} of {} GPUs used\n",
                                      model::counted(static_cast<std::int64_t>(use.nodes.size()), "node"),
                                      use.used, use.gpus);
  for (const auto& [state, counts] : states)
    text += fmt::format("{}: {}, {} free\n", state, model::counted(counts.first, "node"),
                        model::counted(counts.second, "GPU"));
  return text;
}

std::string nodesJson(const model::Snapshot& snapshot, bool all) {
  const NodesUse use = nodesUse(snapshot, all);
  codec::JsonWriter out;
  out.beginObject().key("items").beginArray();
  for (const NodeUse& each : use.nodes) {
    out.beginObject().member("name", each.node->name.str());
    out.member("gpus", each.node->allocatable.gpus()).member("usedGpus", each.use.gpus);
    out.memberBool("ready", each.node->ready).memberBool("unschedulable", each.node->unschedulable);
    out.memberBool("deleting", each.node->deleting).memberBool("suspected", each.suspected);
    out.key("trainingJobs").beginArray();
    for (const model::ObjectKey& gang : each.use.gangs)
      out.beginObject().member("namespace", gang.ns).member("name", gang.name).endObject();
    out.endArray().member("otherPods", static_cast<std::int64_t>(each.use.foreignPods)).endObject();
  }
  out.endArray().member("gpus", use.gpus).member("usedGpus", use.used).endObject();
  return std::move(out).take() + "\n";
}

std::string topTable(const model::Snapshot& snapshot, std::size_t count) {
  const Holders holders = HoldersReader(snapshot).read();
  Rows rows = {{"QUEUE", "GPUS", "OF ALL", "PLACED", "WAITING"}};
  for (const auto& [name, use] : holders.queues) {
    rows.push_back(
        {name, fmt::to_string(use.gpus),
         holders.gpus == 0 ? "" : fmt::format("{} %", (use.gpus * 100 + holders.gpus / 2) / holders.gpus),
         fmt::to_string(use.placed), fmt::to_string(use.waiting)});
  }
  const std::string text = rows.size() > 1 ? formatTable(rows) + "\n" : "";
  return holders.jobs.empty() ? text + "No job is placed.\n"
                              : text + jobsTable(holders.jobs, count, snapshot.now);
}

std::string topJson(const model::Snapshot& snapshot, std::size_t count) {
  const Holders holders = HoldersReader(snapshot).read();
  codec::JsonWriter out;
  out.beginObject().key("items").beginArray();
  for (std::size_t i = 0; i < std::min(count, holders.jobs.size()); ++i) {
    const Held& each = holders.jobs[i];
    out.beginObject().member("namespace", each.job.ns).member("name", each.job.name);
    out.member("queue", each.queue).member("phase", each.phase).member("gpus", each.gpus);
    out.member("creationTimestamp", base::formatTime(each.since)).endObject();
  }
  out.endArray().member("placed", static_cast<std::int64_t>(holders.jobs.size()));
  out.key("queues").beginArray();
  for (const auto& [name, use] : holders.queues) {
    out.beginObject().member("name", name).member("gpus", use.gpus);
    out.member("placed", use.placed).member("waiting", use.waiting).endObject();
  }
  out.endArray().member("gpus", holders.gpus).endObject();
  return std::move(out).take() + "\n";
}

}  // namespace trainyard::cli
