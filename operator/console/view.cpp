#include "operator/console/view.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "base/saturating.h"
#include "codec/json_writer.h"
#include "core/search/suspicion.h"
#include "model/charge.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::operator_::console {
namespace {

using codec::JsonWriter;
using model::Job;

constexpr std::size_t kRowMessageBytes = 300;
constexpr std::string_view kHiddenHolder = "?";
constexpr std::string_view kOtherPods = "*";

// Nodes with GPUs, in the order of their domains.
struct Row {
  std::size_t position = 0;
  std::size_t node = 0;  // index into ledger.nodes()
};

std::vector<Row> rowsOf(const Facts& facts) {
  std::vector<Row> rows;
  for (std::size_t position = 0; position < facts.domains->nodeCount(); ++position) {
    const std::size_t node = facts.domains->nodeAt(position);
    if (facts.ledger.nodes()[node].node->allocatable.gpus() > 0) rows.push_back({position, node});
  }
  return rows;
}

std::int64_t freeOf(const core::Ledger::NodeCapacity& capacity) {
  return std::clamp<std::int64_t>(capacity.free.gpus(), 0, capacity.node->allocatable.gpus());
}

std::string describeViewer(const Viewer& viewer) {
  JsonWriter out;
  out.beginObject().member("user", viewer.user).memberBool("everywhere", viewer.everywhere);
  out.memberBool("nodes", viewer.nodes).memberBool("queues", viewer.queues).key("namespaces").beginArray();
  for (const std::string& ns : viewer.namespaces) out.string(ns);
  out.endArray().endObject();
  return std::move(out).take();
}

std::string describeTotals(const Facts& facts, const Viewer& viewer, const std::vector<Row>& rows,
                           std::size_t listed) {
  JsonWriter out;
  out.beginObject();
  if (viewer.nodes) {
    std::int64_t all = 0;
    std::int64_t free = 0;
    std::int64_t fragments = 0;
    for (const Row& row : rows) {
      const auto& capacity = facts.ledger.nodes()[row.node];
      const std::int64_t left = freeOf(capacity);
      all += capacity.node->allocatable.gpus();
      free += left;
      if (left < capacity.node->allocatable.gpus()) fragments += left;
    }
    out.member("gpus", all).member("free", free).member("fragments", fragments);
    out.member("nodesWithout", static_cast<std::int64_t>(facts.snapshot.nodes.size() - rows.size()));
  }
  std::map<std::string, std::int64_t> phases;
  std::int64_t seen = 0;
  for (const auto& job : facts.snapshot.jobs) {
    if (!viewer.sees(job->key.ns)) continue;
    ++phases[job->status.phase.empty() ? "Pending" : job->status.phase];
    ++seen;
  }
  out.member("jobs", seen).member("listed", static_cast<std::int64_t>(listed)).key("phases").beginObject();
  for (const auto& [phase, count] : phases) out.member(phase, count);
  out.endObject().endObject();
  return std::move(out).take();
}

// Level names are visible to all viewers, because any job may request them. Each level with labelled nodes
// lists its domains as [path, first row, row after the last].
std::string describeMap(const Facts& facts, const Viewer& viewer, const std::vector<Row>& rows) {
  JsonWriter out;
  const core::Domains& domains = *facts.domains;
  out.beginObject().member("nodes", static_cast<std::int64_t>(viewer.nodes ? rows.size() : 0));
  out.key("names").beginArray();
  for (std::size_t level = 1; level < domains.levels().size(); ++level) {
    if (level == domains.nodeLevel() || domains.levels()[level].labelled > 0)
      out.string(domains.levels()[level].name);
  }
  out.endArray().key("levels").beginArray();
  for (std::size_t level = 1; viewer.nodes && level < domains.nodeLevel(); ++level) {
    if (domains.levels()[level].labelled == 0) continue;
    out.beginObject().member("name", domains.levels()[level].name).key("domains").beginArray();
    for (std::size_t row = 0; row < rows.size();) {
      const auto range = domains.domainOf(level, rows[row].position);
      std::size_t end = row;
      while (end < rows.size() && rows[end].position < range.end) ++end;
      out.beginArray().string(domains.path(level, range.begin));
      out.integer(static_cast<std::int64_t>(row)).integer(static_cast<std::int64_t>(end)).endArray();
      row = end;
    }
    out.endArray().endObject();
  }
  out.endArray().endObject();
  return std::move(out).take();
}

std::int64_t stateOf(const Facts& facts, const model::Node& node) {
  return (node.ready ? 0 : 1) | (node.unschedulable ? 2 : 0) | (node.deleting ? 4 : 0) |
         (facts.suspected.contains(node.name) ? 8 : 0);
}

std::string holderOf(const core::Ledger::Holding& holding, const Viewer& viewer) {
  const std::string& ns = holding.job != nullptr ? holding.job->key.ns : holding.pod->key.ns;
  if (!viewer.sees(ns)) return std::string(kHiddenHolder);
  return holding.job != nullptr ? fmt::format("{}", holding.job->key) : std::string(kOtherPods);
}

void describeNode(JsonWriter& out, const Facts& facts, const Viewer& viewer, std::size_t node) {
  const auto& capacity = facts.ledger.nodes()[node];
  out.beginArray().string(capacity.node->name.str()).integer(capacity.node->allocatable.gpus());
  out.integer(freeOf(capacity)).integer(stateOf(facts, *capacity.node));
  std::vector<std::pair<std::string, std::int64_t>> holders;  // few
  facts.ledger.forEachHolding(node, [&](const core::Ledger::Holding& holding) {
    if (holding.amount.gpus() <= 0 || (holding.job == nullptr && holding.pod == nullptr)) return;
    std::string holder = holderOf(holding, viewer);
    const auto known =
        std::find_if(holders.begin(), holders.end(), [&](const auto& each) { return each.first == holder; });
    if (known == holders.end()) {
      holders.emplace_back(std::move(holder), holding.amount.gpus());
    } else {
      known->second = base::saturatingAdd(known->second, holding.amount.gpus());
    }
  });
  for (const auto& [holder, count] : holders) out.string(holder).integer(count);
  out.endArray();
}

void describeQuota(JsonWriter& out, std::string_view name, const model::Quota& quota) {
  out.key(name).beginObject();
  for (const auto& [resource, amount] : quota.entries()) out.member(resource, amount);
  out.endObject();
}

std::string describeQueues(const Facts& facts, const Viewer& viewer) {
  JsonWriter out;
  if (!viewer.queues) return "null";
  out.beginArray();
  for (const auto& queue : facts.snapshot.queues) {
    const model::QueueStatus& status = queue->status;
    out.beginObject().member("name", queue->name.str()).member("parent", queue->parent.str());
    out.member("weight", queue->weight).member("share", status.share).member("fairShare", status.fairShare);
    out.member("waiting", status.waiting).member("placed", status.placed);
    const auto gpus = status.gpus.value_or(model::QueueGpus{
        .used = status.usage.amount(model::names::kGpuResource), .guaranteed = 0, .limit = std::nullopt});
    out.member("used", gpus.used).member("guaranteed", gpus.guaranteed);
    if (gpus.limit.has_value()) out.member("limit", gpus.limit.value_or(0));
    describeQuota(out, "limits", queue->limit);
    for (const model::Condition& each : status.conditions) {
      if (each.type == model::conditions::kReady && each.status == model::ConditionStatus::kFalse)
        out.member("problem", withoutOthers(each.message, viewer, facts.namespaces));
    }
    out.endObject();
  }
  out.endArray();
  return std::move(out).take();
}

void describeJob(JsonWriter& out, const Facts& facts, const Viewer& viewer, const Job& job) {
  const model::JobStatus& status = job.status;
  out.beginObject()
      .member("ns", job.key.ns)
      .member("name", job.key.name)
      .member("queue", model::shownQueue(job).str());
  out.member("phase", status.phase.empty() ? "Pending" : status.phase).member("ready", status.ready);
  out.member("gpus", status.gpus > 0 ? status.gpus : model::gangGpus(job.spec, status.gang));
  out.member("created", base::formatTime(job.created));
  if (status.pending && !job.finished()) {
    out.member("reason", status.pending->reasonText());
    out.member("message", base::cutText(withoutOthers(status.pending->message, viewer, facts.namespaces),
                                        kRowMessageBytes));
    if (status.pending->estimatedStart)
      out.member("start", base::formatTime(*status.pending->estimatedStart));
  }
  if (status.progress && status.progress->totalSteps.value_or(0) > 0)
    out.member("permille",
               std::clamp<std::int64_t>(
                   status.progress->step * 1000 / status.progress->totalSteps.value_or(1), 0, 1000));
  out.endObject();
}

// Beyond kMaxJobs, keeps unfinished jobs first, then the newest.
std::vector<const Job*> listedJobs(const Facts& facts, const Viewer& viewer) {
  std::vector<const Job*> jobs;
  for (const auto& job : facts.snapshot.jobs) {
    if (viewer.sees(job->key.ns)) jobs.push_back(job.get());
  }
  if (jobs.size() <= kMaxJobs) return jobs;
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) {
    if (a->finished() != b->finished()) return b->finished();
    return a->created != b->created ? a->created > b->created : a->key < b->key;
  });
  jobs.resize(kMaxJobs);
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->key < b->key; });
  return jobs;
}

void addJobs(std::vector<Section>& sections, const Facts& facts, const Viewer& viewer,
             const std::vector<const Job*>& jobs) {
  std::vector<JsonWriter> parts(kJobSections);
  for (JsonWriter& part : parts) part.beginArray();
  for (const Job* job : jobs)
    describeJob(parts[std::hash<std::string>()(job->uid.str()) % kJobSections], facts, viewer, *job);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].endArray();
    sections.push_back({fmt::format("jobs/{}", i), std::move(parts[i]).take()});
  }
}

}  // namespace

void Facts::follow(model::Snapshot next) {
  const bool sameNodes =
      domains && next.nodes.isSameAs(snapshot.nodes) && next.policy.topology == snapshot.policy.topology;
  ledger.follow(next);
  if (!sameNodes) domains.emplace(next.nodes, next.policy.topology);
  snapshot = std::move(next);
  namespaces.clear();
  jobNamespaces.clear();
  std::vector<std::shared_ptr<const Job>> accusing;
  for (const auto& job : snapshot.jobs) {
    jobNamespaces.insert(job->key.ns);
    if (core::accusesNode(*job)) accusing.push_back(job);
  }
  for (const auto& ns : snapshot.namespaces) namespaces.insert(ns->name);
  namespaces.insert(jobNamespaces.begin(), jobNamespaces.end());
  const auto found = core::suspectedNodes(accusing, snapshot.jobs, snapshot.policy, snapshot.now);
  suspected = {found.begin(), found.end()};
}

std::vector<Section> describe(const Facts& facts, const Viewer& viewer) {
  const std::vector<Row> rows = rowsOf(facts);
  const std::vector<const Job*> jobs = listedJobs(facts, viewer);
  std::vector<Section> sections;
  sections.push_back({"me", describeViewer(viewer)});
  sections.push_back({"totals", describeTotals(facts, viewer, rows, jobs.size())});
  sections.push_back({"map", describeMap(facts, viewer, rows)});
  sections.push_back({"queues", describeQueues(facts, viewer)});
  addJobs(sections, facts, viewer, jobs);
  for (std::size_t from = 0; viewer.nodes && from < rows.size(); from += kNodesInSection) {
    JsonWriter out;
    out.beginArray();
    for (std::size_t i = from; i < std::min(rows.size(), from + kNodesInSection); ++i)
      describeNode(out, facts, viewer, rows[i].node);
    out.endArray();
    sections.push_back({fmt::format("nodes/{}", from / kNodesInSection), std::move(out).take()});
  }
  return sections;
}

const Job* findJob(const Facts& facts, const Viewer& viewer, std::string_view ns, std::string_view name) {
  if (!viewer.sees(ns)) return nullptr;
  const auto& jobs = facts.snapshot.jobs.items();
  const auto at = std::lower_bound(
      jobs.begin(), jobs.end(), std::pair(ns, name), [](const auto& job, const auto& wanted) {
        return std::pair<std::string_view, std::string_view>(job->key.ns, job->key.name) < wanted;
      });
  return at != jobs.end() && (*at)->key.ns == ns && (*at)->key.name == name ? at->get() : nullptr;
}

}  // namespace trainyard::operator_::console
