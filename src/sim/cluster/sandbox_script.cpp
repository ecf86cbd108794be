#include "sim/cluster/sandbox_script.h"

#include <fmt/format.h>

#include "sim/cluster/sandbox_story.h"

namespace trainyard::sim {
namespace {

constexpr std::string_view kEnds = "ends";

// Invalid objects are left for the API server to refuse.
void note(Json& object, const std::string& key, const Json& value) {
  Json* at = &object;
  for (const char* member : {"metadata", "annotations"}) {
    if (!at->is_object()) return;
    at = &(*at)[member];
    if (at->is_null()) *at = Json::object();
  }
  if (at->is_object() && !at->contains(key)) (*at)[key] = value;
}

bool allTexts(const Json& members) {
  for (const auto& [key, value] : members.items()) {
    if (!value.is_string()) return false;
  }
  return true;
}

}  // namespace

base::Result<Json> parseScript(const std::string& text, const std::string& file) {
  const auto documents = parseYaml(text);
  if (!documents)
    return base::fail(documents.error().code, fmt::format("{}: {}", file, documents.error().message));
  if (documents->empty() || documents->front().is_null()) return Json::object();
  const auto invalid = [&](const std::string& where) {
    return base::fail(
        base::ErrorCode::kInvalid,
        fmt::format("{}: {}: must be like JOB: {{ends: PHASE, ROLE: {{run-for: 3s}}}}, all of it text", file,
                    where));
  };
  const Json& script = documents->front();
  if (documents->size() > 1 || !script.is_object()) return invalid("it");
  for (const auto& [job, parts] : script.items()) {
    if (!parts.is_object()) return invalid(job);
    for (const auto& [part, value] : parts.items()) {
      const bool good = part == kEnds ? value.is_string() : value.is_object() && allTexts(value);
      if (!good) return invalid(job + "." + part);
    }
  }
  return script;
}

void followScript(const Json& script, Json& job) {
  const Json* parts = find(script, textAt(job, {"metadata", "name"}));
  if (parts == nullptr || textAt(job, {"kind"}) != "TrainingJob") return;
  if (const Json* ends = find(*parts, kEnds)) note(job, kExpectAnnotation, *ends);
  if (listAt(job, {"spec", "roles"}).empty()) return;
  for (Json& role : job["spec"]["roles"]) {
    if (find(role, "template") == nullptr) continue;
    for (const auto& [what, value] : objectAt(*parts, {textAt(role, {"name"})}).items()) {
      note(role["template"], "sim.trainyard.dev/" + what, value);
    }
  }
}

}  // namespace trainyard::sim
