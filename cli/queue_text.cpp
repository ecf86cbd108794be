#include "cli/queue_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cli/table.h"
#include "codec/enum_names.h"
#include "codec/json_writer.h"
#include "codec/queue.h"
#include "codec/quota.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

using model::Queue;

struct TreeEntry {
  const Queue* queue = nullptr;
  int depth = 0;
};

class Tree {
 public:
  explicit Tree(const std::vector<Queue>& queues) {
    std::map<model::QueueName, const Queue*> byName;
    for (const Queue& queue : queues) byName.emplace(queue.name, &queue);
    for (const auto& [name, queue] : byName) children_[queue->parent].push_back(queue);
    for (const auto& [name, queue] : byName) {
      if (!byName.contains(queue->parent)) visit(*queue, 0);
    }
    // The remaining queues form cycles: each cycle is opened at its first name.
    for (const auto& [name, queue] : byName) visit(*queue, 0);
  }

  [[nodiscard]] const std::vector<TreeEntry>& entries() const { return entries_; }

 private:
  void visit(const Queue& queue, int depth) {
    if (!visited_.insert(queue.name).second) return;
    entries_.push_back({&queue, depth});
    const auto children = children_.find(queue.name);
    if (children == children_.end()) return;
    for (const Queue* child : children->second) visit(*child, depth + 1);
  }

  std::map<model::QueueName, std::vector<const Queue*>> children_;
  std::set<model::QueueName> visited_;
  std::vector<TreeEntry> entries_;
};

const model::Condition* readyOf(const Queue& queue) {
  const auto& conditions = queue.status.conditions;
  const auto at = std::find_if(conditions.begin(), conditions.end(),
                               [](const auto& each) { return each.type == model::conditions::kReady; });
  return at == conditions.end() ? nullptr : &*at;
}

// "yes", the reason why not, or "?" for a queue without a status.
std::string readyText(const Queue& queue) {
  const model::Condition* ready = readyOf(queue);
  if (ready == nullptr) return "?";
  return ready->status == model::ConditionStatus::kTrue ? "yes" : ready->reason;
}

std::string amountOrDash(const model::Quota& quota, std::string_view resource) {
  const auto amount = quota.find(resource);
  return amount ? codec::amountText(resource, *amount) : "-";
}

// Converts thousandths to text: "12.5%".
std::string percent(std::int64_t thousandths) {
  return fmt::format("{}.{}%", thousandths / 10, thousandths % 10);
}

std::string withinText(model::WithinQueue within) {
  return within == model::WithinQueue::kNever ? "Never" : "LowerPriority";
}

std::string selectorText(const model::LabelSelector& selector) {
  std::string text;
  for (const model::SelectorRequirement& each : selector.requirements) {
    if (!text.empty()) text += ", ";
    const std::string values = fmt::format("{}", fmt::join(each.values, ", "));
    switch (each.op) {
      case model::SelectorOperator::kIn:
        text += each.values.size() == 1 ? fmt::format("{}={}", each.key, values)
                                        : fmt::format("{} in ({})", each.key, values);
        break;
      case model::SelectorOperator::kNotIn: text += fmt::format("{} notin ({})", each.key, values); break;
      case model::SelectorOperator::kDoesNotExist: text += fmt::format("!{}", each.key); break;
      default: text += each.key; break;
    }
  }
  return text.empty() ? "all" : text;
}

// Returns the operator's number, because only its configuration lists the GPU resources. A new queue has no
// such status yet: the default GPU resource is shown.
std::string gpusGuaranteed(const Queue& queue) {
  if (!queue.status.gpus) return amountOrDash(queue.guaranteed, model::names::kGpuResource);
  return queue.status.gpus->guaranteed > 0 ? fmt::to_string(queue.status.gpus->guaranteed) : "-";
}

std::string gpusLimit(const Queue& queue) {
  if (!queue.status.gpus) return amountOrDash(queue.limit, model::names::kGpuResource);
  return queue.status.gpus->limit ? fmt::to_string(*queue.status.gpus->limit) : "-";
}

std::string gpusUsed(const model::QueueStatus& status) {
  if (!status.gpus) return amountOrDash(status.usage, model::names::kGpuResource);
  return status.gpus->used > 0 ? fmt::to_string(status.gpus->used) : "-";
}

std::string resourcesTable(const Queue& queue) {
  std::set<std::string> names;
  for (const model::Quota* quota : {&queue.guaranteed, &queue.limit, &queue.status.usage}) {
    for (const auto& [name, amount] : quota->entries()) names.insert(name);
  }
  if (names.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"  RESOURCE", "GUARANTEED", "LIMIT", "USED"}};
  for (const std::string& name : names) {
    rows.push_back({fmt::format("  {}", name), amountOrDash(queue.guaranteed, name),
                    amountOrDash(queue.limit, name), amountOrDash(queue.status.usage, name)});
  }
  return fmt::format("\n{}", formatTable(rows));
}

std::string conditionsTable(const Queue& queue, base::WallTime now) {
  if (queue.status.conditions.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"  CONDITION", "STATUS", "SINCE", "REASON", "MESSAGE"}};
  for (const model::Condition& each : queue.status.conditions) {
    rows.push_back({fmt::format("  {}", each.type),
                    std::string(codec::enumName(codec::kConditionStatuses, each.status)),
                    formatAge(each.lastTransition, now), each.reason, each.message});
  }
  return fmt::format("\n{}", formatTable(rows));
}

void writeQueue(codec::JsonWriter& out, const Queue& queue) {
  out.beginObject().member("name", queue.name.str()).member("uid", queue.uid.str());
  if (!queue.parent.empty()) out.member("parent", queue.parent.str());
  out.member("weight", queue.weight);
  codec::writeQuota(queue.guaranteed, out.key("guaranteed"));
  codec::writeQuota(queue.limit, out.key("limit"));
  out.key("preemption")
      .beginObject()
      .memberBool("reclaim", queue.reclaim)
      .member("withinQueue", withinText(queue.withinQueue))
      .endObject();
  if (!queue.specError.empty()) out.member("specError", queue.specError);
  out.key("status").raw(codec::encodeQueueStatus(queue.status)).endObject();
}

}  // namespace

std::string queuesTable(const std::vector<Queue>& queues) {
  std::vector<std::vector<std::string>> rows{
      {"QUEUE", "READY", "WEIGHT", "GUARANTEED", "LIMIT", "USED", "SHARE", "FAIR", "WAITING", "PLACED"}};
  const Tree tree(queues);
  for (const auto& [queue, depth] : tree.entries()) {
    const model::QueueStatus& status = queue->status;
    rows.push_back({std::string(static_cast<std::size_t>(depth) * 2, ' ') + queue->name.str(),
                    readyText(*queue), fmt::to_string(queue->weight), gpusGuaranteed(*queue),
                    gpusLimit(*queue), gpusUsed(status), percent(status.share), percent(status.fairShare),
                    fmt::to_string(status.waiting), fmt::to_string(status.placed)});
  }
  return formatTable(rows);
}

std::string queuesJson(const std::vector<Queue>& queues) {
  codec::JsonWriter out;
  out.beginObject().key("items").beginArray();
  const Tree tree(queues);
  for (const TreeEntry& entry : tree.entries()) writeQueue(out, *entry.queue);
  out.endArray().endObject();
  return std::move(out).take() + "\n";
}

std::string queueDetails(const Queue& queue, base::WallTime now) {
  const model::QueueStatus& status = queue.status;
  std::string text =
      formatTable({{"Queue:", queue.name.str()},
                   {"Parent:", queue.parent.empty() ? "none: a root" : queue.parent.str()},
                   {"Ready:", readyText(queue)},
                   {"Weight:", fmt::to_string(queue.weight)},
                   {"Share:", fmt::format("{} of the cluster, of {} it is entitled to now",
                                          percent(status.share), percent(status.fairShare))},
                   {"Jobs:", fmt::format("{} waiting, {} placed", status.waiting, status.placed)},
                   {"Reclaim:", queue.reclaim ? "true" : "false"},
                   {"Within queue:", withinText(queue.withinQueue)},
                   {"Namespaces:", selectorText(queue.namespaceSelector)}});
  if (!queue.specError.empty()) text += fmt::format("\n  {}\n", queue.specError);
  return text + resourcesTable(queue) + conditionsTable(queue, now);
}

std::string queueJson(const Queue& queue) {
  codec::JsonWriter out;
  writeQueue(out, queue);
  return std::move(out).take() + "\n";
}

}  // namespace trainyard::cli
