#include "core/place/shape_key.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "model/gang_size.h"
#include "model/late_members.h"

namespace trainyard::core {
namespace {

// Writes texts with their length, so that no two lists of texts have the same key.
class KeyWriter {
 public:
  void number(std::int64_t value) { fmt::format_to(std::back_inserter(key_), "{},", value); }
  void text(std::string_view value) {
    fmt::format_to(std::back_inserter(key_), "{}:{},", value.size(), value);
  }

  void requests(const model::Resources& amount) {
    model::forEachNative([&](const auto& native) { number(native.in(amount)); });
    number(static_cast<std::int64_t>(amount.extendedAll().size()));
    for (const auto& [name, value] : amount.extendedAll()) {
      text(name);
      number(value);
    }
  }
  void requirements(const std::vector<model::SelectorRequirement>& all) {
    number(static_cast<std::int64_t>(all.size()));
    for (const model::SelectorRequirement& each : all) {
      text(each.key);
      number(static_cast<std::int64_t>(each.op));
      number(static_cast<std::int64_t>(each.values.size()));
      for (const std::string& value : each.values) text(value);
    }
  }
  void shape(const model::PodShape& shape) {
    requests(shape.requests);
    constraints(shape);
  }
  void constraints(const model::PodShape& shape) {
    number(static_cast<std::int64_t>(shape.nodeSelector.entries().size()));
    for (const auto& [key, value] : shape.nodeSelector.entries()) {
      text(key);
      text(value);
    }
    number(shape.affinity ? static_cast<std::int64_t>(shape.affinity->size()) : -1);
    if (shape.affinity) {
      for (const model::NodeSelectorTerm& term : *shape.affinity) {
        requirements(term.labels);
        requirements(term.fields);
      }
    }
    number(static_cast<std::int64_t>(shape.preferred.size()));
    for (const model::NodeSelectorTerm& term : shape.preferred) {
      requirements(term.labels);
      requirements(term.fields);
    }
    number(static_cast<std::int64_t>(shape.volumeAffinity.size()));
    for (const auto& terms : shape.volumeAffinity) {
      number(static_cast<std::int64_t>(terms.size()));
      for (const model::NodeSelectorTerm& term : terms) {
        requirements(term.labels);
        requirements(term.fields);
      }
    }
    number(static_cast<std::int64_t>(shape.tolerations.size()));
    for (const model::Toleration& each : shape.tolerations) {
      text(each.key);
      text(each.value);
      number(each.exists ? 1 : 0);
      number(each.effect ? static_cast<std::int64_t>(*each.effect) : -1);
    }
  }
  [[nodiscard]] std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace

std::string shapeKey(const model::Job& job) {
  KeyWriter key;
  for (const model::Role& role : job.spec.roles) {
    key.text(role.name);
    key.number(model::gangMembers(job, role));
    key.shape(role.shape);
  }
  key.number(job.spec.elastic ? job.spec.elastic->minReplicas : 0);
  key.number(model::mayStartIncomplete(job.spec) ? 1 : 0);
  key.text(job.spec.locality.required);
  for (const model::LocalityLevel& level : job.spec.locality.levels) {
    key.text(level.level);
    key.number(level.wait ? level.wait->count() : -1);
  }
  if (job.spec.plan.automatic && job.status.plan) {
    key.number(job.status.plan->nodes);
    key.text(job.status.plan->gpuType);
  }
  return key.take();
}

std::string constraintsKey(const model::PodShape& shape) {
  KeyWriter key;
  key.constraints(shape);
  return key.take();
}

std::string poolKey(const model::Job& job) {
  const bool gpus = std::any_of(job.spec.roles.begin(), job.spec.roles.end(),
                                [](const model::Role& role) { return role.shape.requests.gpus() > 0; });
  KeyWriter key;
  for (const model::Role& role : job.spec.roles) {
    if (!gpus || role.shape.requests.gpus() > 0) key.constraints(role.shape);
  }
  return key.take();
}

}  // namespace trainyard::core
