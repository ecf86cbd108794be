#include "codec/disruption_budget.h"

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "codec/owned_object.h"

namespace trainyard::codec {
namespace {

// The maximum number of pods in the schema of TrainingJob.
constexpr int kMaxPods = 80'000;

}  // namespace

std::string disruptionBudgetName(const model::Job& job) {
  return fmt::format("{}-gang-{}", job.key.name, job.uid);
}

std::string encodeDisruptionBudget(const model::Job& job) {
  JsonWriter out;
  out.beginObject().member("apiVersion", "policy/v1").member("kind", "PodDisruptionBudget");
  writeOwnedMetadata(out, job, disruptionBudgetName(job));
  out.key("spec").beginObject().member("minAvailable", kMaxPods);
  out.key("selector").beginObject().key("matchLabels").beginObject();
  writeJobLabels(out, job);
  out.endObject().endObject().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
