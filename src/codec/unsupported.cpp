#include "codec/unsupported.h"

#include <initializer_list>

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

JsonValue at(JsonValue value, std::initializer_list<std::string_view> path) {
  for (const std::string_view name : path) value = value.find(name);
  return value;
}

bool isNumber(const JsonValue& value) { return value.type() == JsonType::kInteger; }

// How the job is to be asked for its state, where nobody can ask it yet; else empty.
std::string_view unbuiltMode(const model::JobSpec& spec) {
  using enum model::CheckpointMode;
  if (!spec.checkpoint) return {};
  switch (spec.checkpoint->mode) {
    case kHttp: return "HTTP";
    case kLauncher:
    case kHelper:
    case kSignal:
    case kNone: return {};
  }
  return {};
}

bool isPositive(const JsonValue& value) { return value.integer().value_or(0) > 0; }

}  // namespace

std::vector<std::string> findUnsupported(const JsonValue& spec, const model::JobSpec& decoded) {
  std::vector<std::string> found;
  const auto add = [&](bool asked, std::string_view what) {
    if (asked) found.emplace_back(what);
  };
  if (const std::string_view mode = unbuiltMode(decoded); !mode.empty()) {
    found.push_back(
        fmt::format("spec.checkpoint.mode {} (nobody asks the job to save its state; when it is "
                    "stopped, its processes get SIGTERM)",
                    mode));
  }
  add(decoded.minAvailable && *decoded.minAvailable < decoded.totalReplicas(), "spec.gang.minAvailable");
  add(at(spec, {"plan", "mode"}).string() == "Auto", "spec.plan");
  add(isNumber(at(spec, {"network", "priority"})), "spec.network.priority");
  add(at(spec, {"health", "preflight"}).boolean().value_or(false), "spec.health.preflight");
  add(isPositive(at(spec, {"health", "stallSeconds"})), "spec.health.stallSeconds");
  return found;
}

}  // namespace trainyard::codec
