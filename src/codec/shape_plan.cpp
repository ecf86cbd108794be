#include "codec/shape_plan.h"

#include <algorithm>

namespace trainyard::codec {
namespace {

constexpr int kMaxReplicas = 10'000;

}  // namespace

std::optional<model::ShapePlan> readShapePlan(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::ShapePlan plan;
  plan.generation = field["generation"].integer(0, 0, INT64_MAX);
  field["roles"].forEachElement([&](const Field& each) {
    plan.roles.push_back(
        {std::string(each["name"].required()), each["replicas"].smallInteger(1, 1, kMaxReplicas)});
  });
  plan.gpuType = field["gpuType"].text();
  plan.nodes = field["nodes"].smallInteger(0, 0);
  plan.stepMicros = field["predictedStepMicroseconds"].integer(0, 0, INT64_MAX);
  plan.milliSamplesPerSecond = field["predictedMilliSamplesPerSecond"].integer(0, 0, INT64_MAX);
  plan.message = field["message"].text();
  plan.at = field["plannedAt"].time().value_or(base::WallTime{});
  return plan;
}

void writeShapePlan(const model::ShapePlan& plan, JsonWriter& out) {
  out.key("plan").beginObject().member("generation", plan.generation);
  if (!plan.roles.empty()) out.key("roles").beginArray();
  for (const model::PlannedRole& role : plan.roles)
    out.beginObject().member("name", role.name).member("replicas", role.replicas).endObject();
  if (!plan.roles.empty()) out.endArray();
  if (!plan.gpuType.empty()) out.member("gpuType", plan.gpuType);
  if (plan.nodes != 0) out.member("nodes", plan.nodes);
  if (plan.stepMicros != 0) out.member("predictedStepMicroseconds", plan.stepMicros);
  if (plan.milliSamplesPerSecond != 0)
    out.member("predictedMilliSamplesPerSecond", plan.milliSamplesPerSecond);
  if (!plan.message.empty()) out.member("message", plan.message);
  if (plan.at != base::WallTime{}) out.member("plannedAt", base::formatTime(plan.at));
  out.endObject();
}

void applyShapePlan(const model::ShapePlan& plan, model::JobSpec& spec) {
  for (const model::PlannedRole& planned : plan.roles) {
    const auto role = std::find_if(spec.roles.begin(), spec.roles.end(),
                                   [&](const model::Role& each) { return each.name == planned.name; });
    if (role == spec.roles.end()) continue;
    role->replicas = planned.replicas;
    if (spec.elastic && spec.elastic->role == planned.name) {
      // Contradicting bounds are refused elsewhere; std::clamp is not used, as it requires ordered bounds.
      spec.elastic->replicas =
          std::max(std::min(planned.replicas, spec.elastic->maxReplicas), spec.elastic->minReplicas);
    }
  }
}

}  // namespace trainyard::codec
