#include "codec/queue.h"

#include <utility>

#include <fmt/format.h>

#include "codec/conditions.h"
#include "codec/decode_object.h"
#include "codec/exact_time.h"
#include "codec/json_writer.h"
#include "codec/merge_patch.h"
#include "codec/quota.h"

namespace trainyard::codec {
namespace {

constexpr std::int64_t kMaxWeight = 1'000'000;

model::WithinQueue readWithinQueue(const Field& field) {
  const std::string_view text = field.text("LowerPriority");
  if (text == "Never") return model::WithinQueue::kNever;
  if (text != "LowerPriority") field.refuse("must be Never or LowerPriority");
  return model::WithinQueue::kLowerPriority;
}

std::optional<model::SelectorOperator> readOperator(const Field& field) {
  const std::string_view text = field.required();
  if (text == "In") return model::SelectorOperator::kIn;
  if (text == "NotIn") return model::SelectorOperator::kNotIn;
  if (text == "Exists") return model::SelectorOperator::kExists;
  if (text == "DoesNotExist") return model::SelectorOperator::kDoesNotExist;
  field.refuse("must be In, NotIn, Exists or DoesNotExist");
  return std::nullopt;
}

model::LabelSelector readSelector(const Field& field) {
  model::LabelSelector selector;
  field["matchLabels"].forEachMember([&](std::string_view key, const Field& value) {
    selector.requirements.push_back({std::string(key), model::SelectorOperator::kIn, {value.string()}});
  });
  field["matchExpressions"].forEachElement([&](const Field& each) {
    model::SelectorRequirement requirement;
    requirement.key = each["key"].required();
    const auto op = readOperator(each["operator"]);
    if (!op) return;
    requirement.op = *op;
    each["values"].forEachElement([&](const Field& value) { requirement.values.push_back(value.string()); });
    const bool compares = *op == model::SelectorOperator::kIn || *op == model::SelectorOperator::kNotIn;
    if (compares == requirement.values.empty())
      each["values"].complain("must be given with operator In or NotIn, and only then");
    selector.requirements.push_back(std::move(requirement));
  });
  return selector;
}

void readSpec(const Field& spec, model::Queue& queue) {
  queue.parent = model::QueueName(spec["parent"].text());
  if (queue.parent == queue.name) spec["parent"].refuse("must be another queue");
  queue.weight = spec["weight"].integer(1, 1, kMaxWeight);
  queue.guaranteed = readQuota(spec["guaranteed"]);
  queue.limit = readQuota(spec["limit"]);
  for (const auto& [name, amount] : queue.guaranteed.entries()) {
    const auto limit = queue.limit.find(name);
    if (limit && *limit < amount)
      spec["guaranteed"].complain(fmt::format("{} must not be above spec.limit", name));
  }
  const Field preemption = spec["preemption"];
  queue.reclaim = preemption["reclaim"].boolean(true);
  queue.withinQueue = readWithinQueue(preemption["withinQueue"]);
  queue.namespaceSelector = readSelector(spec["namespaceSelector"]);
  if (const Field allowed = spec["allowedPriorityClasses"]; allowed.present()) {
    queue.allowedPriorityClasses.emplace();
    allowed.forEachElement(
        [&](const Field& name) { queue.allowedPriorityClasses->push_back(name.string()); });
  }
}

model::QueueStatus readStatus(const Field& field) {
  model::QueueStatus status;
  status.observedGeneration = field["observedGeneration"].integer(0, 0, INT64_MAX);
  status.usage = readWrittenQuota(field["usage"]);
  if (const Field gpus = field["gpus"]; gpus.present()) {
    status.gpus = model::QueueGpus{.used = gpus["used"].integer(0, 0, INT64_MAX),
                                   .guaranteed = gpus["guaranteed"].integer(0, 0, INT64_MAX)};
    if (const Field limit = gpus["limit"]; limit.present())
      status.gpus->limit = limit.integer(0, 0, INT64_MAX);
  }
  status.decayedUsage = readWrittenQuota(field["decayedUsage"]);
  status.decayedAt = field["decayedAt"].time();
  status.share = field["share"].integer(0, 0, INT64_MAX);
  status.fairShare = field["fairShare"].integer(0, 0, INT64_MAX);
  status.waiting = field["waiting"].smallInteger(0, 0);
  status.placed = field["placed"].smallInteger(0, 0);
  status.conditions = readConditions(field["conditions"]);
  return status;
}

model::Queue readQueue(const Field& root) {
  model::Queue queue;
  const Field meta = root["metadata"];
  queue.name = model::QueueName(meta["name"].required());
  queue.uid = model::Uid(meta["uid"].text());
  queue.resourceVersion = meta["resourceVersion"].text();
  queue.generation = meta["generation"].integer(0, 0, INT64_MAX);
  FieldErrors specErrors;
  readSpec(Field(root.value().find("spec"), specErrors, "spec"), queue);
  queue.specError = specErrors.first();
  FieldErrors statusErrors;
  queue.status = readStatus(Field(root.value().find("status"), statusErrors, "status"));
  if (statusErrors.any()) queue.status = {};
  return queue;
}

}  // namespace

base::Result<model::Queue> decodeQueue(std::string_view json) {
  return decodeObject("queue", json, readQueue);
}

std::string encodeQueueStatus(const model::QueueStatus& status) {
  JsonWriter out;
  out.beginObject().member("observedGeneration", status.observedGeneration);
  if (!status.usage.empty()) writeQuota(status.usage, out.key("usage"));
  if (status.gpus) {
    out.key("gpus")
        .beginObject()
        .member("used", status.gpus->used)
        .member("guaranteed", status.gpus->guaranteed);
    if (status.gpus->limit) out.member("limit", *status.gpus->limit);
    out.endObject();
  }
  if (!status.decayedUsage.empty()) writeQuota(status.decayedUsage, out.key("decayedUsage"));
  if (status.decayedAt) out.member("decayedAt", exactTime(*status.decayedAt));
  out.member("share", status.share)
      .member("fairShare", status.fairShare)
      .member("waiting", status.waiting)
      .member("placed", status.placed);
  writeConditions(status.conditions, out);
  out.endObject();
  return std::move(out).take();
}

std::optional<std::string> encodeQueueStatusPatch(const model::Queue& before,
                                                  const model::QueueStatus& after) {
  // A status that was never written has no counts, not even zeros.
  const bool written = before.status != model::QueueStatus();
  return encodeStatusChange(before.resourceVersion, written ? encodeQueueStatus(before.status) : "{}",
                            encodeQueueStatus(after));
}

}  // namespace trainyard::codec
