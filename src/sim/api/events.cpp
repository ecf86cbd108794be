#include <array>

#include <fmt/format.h>

#include "sim/api/names.h"
#include "sim/api/registry.h"

namespace trainyard::sim {
namespace {

// The names of fields in core/v1 and in events.k8s.io/v1.
constexpr std::array<std::pair<const char*, const char*>, 7> kRenamed = {
    {{"involvedObject", "regarding"},
     {"message", "note"},
     {"source", "deprecatedSource"},
     {"firstTimestamp", "deprecatedFirstTimestamp"},
     {"lastTimestamp", "deprecatedLastTimestamp"},
     {"count", "deprecatedCount"},
     {"reportingComponent", "reportingController"}}};
// Fields that core/v1 writes even if empty, and events.k8s.io/v1 does not.
constexpr std::array<const char*, 2> kAlwaysInCore = {"reportingComponent", "reportingInstance"};

bool absent(const Json& object, std::string_view name) {
  const Json* value = find(object, name);
  return value == nullptr || value->is_null();
}

class EventStrategy final : public Strategy {
 public:
  explicit EventStrategy(bool coreVersion) : core_(coreVersion) { createOnUpdate = true; }

  void validate(const Json& event, Causes& causes) const override {
    validateAlways(event, causes);
    if (core_) return;
    validateSeries(event, causes);
    if (absent(event, "eventTime")) causes.required("eventTime");
    const std::string type = textAt(event, {"type"});
    if (type != "Normal" && type != "Warning") causes.invalid("type", "\"\": has invalid value: " + type);
    for (const char* field : {"firstTimestamp", "lastTimestamp"}) {
      if (!absent(event, field)) causes.invalid(field, "needs to be unset");
    }
    if (intAt(event, {"count"}).value_or(0) != 0) causes.invalid("count", "needs to be unset");
    if (!objectAt(event, {"source"}).empty()) causes.invalid("source", "needs to be unset");
  }

  void prepareUpdate(const Json&, Json&, Part) const override {}

  void validateUpdate(const Json& old, const Json& event, Part, Causes& causes) const override {
    validateAlways(event, causes);
    if (core_) return;
    if (!sameAt(old, event, {"series"})) validateSeries(event, causes);
    const std::array<std::pair<const char*, const char*>, 12> fixed = {
        {{"involvedObject", "involvedObject"},
         {"reason", "reason"},
         {"message", "message"},
         {"source", "source"},
         {"firstTimestamp", "firstTimestamp"},
         {"lastTimestamp", "lastTimestamp"},
         {"count", "count"},
         {"type", "type"},
         {"eventTime", "eventTime"},
         {"action", "action"},
         {"reportingComponent", "reportingController"},
         {"reportingInstance", "reportingInstance"}}};
    for (const auto& [field, shownAs] : fixed) {
      if (!sameAt(old, event, {field})) causes.invalid(shownAs, "field is immutable");
    }
  }

 private:
  static void validateSeries(const Json& event, Causes& causes) {
    const Json* series = find(event, "series");
    if (series == nullptr) return;
    if (intAt(*series, {"count"}).value_or(0) < 2)
      causes.invalid("series.count", "\"\": should be at least 2");
    if (absent(*series, "lastObservedTime")) causes.required("series.lastObservedTime");
  }

  void validateAlways(const Json& event, Causes& causes) const {
    const std::string space = textAt(event, {"metadata", "namespace"});
    const std::string theirs = textAt(event, {"involvedObject", "namespace"});
    const std::string controllerField = core_ ? "reportingComponent" : "reportingController";
    if (absent(event, "eventTime")) {
      const bool fits = theirs.empty() ? space == "default" : theirs == space;
      if (!fits)
        causes.invalid("involvedObject.namespace",
                       fmt::format("\"{}\": does not match event.namespace", theirs));
      return;
    }
    if (theirs.empty() && space != "default" && space != "kube-system") {
      causes.invalid("involvedObject.namespace", "\"\": does not match event.namespace");
    }
    const std::string controller = textAt(event, {"reportingComponent"});
    if (controller.empty()) causes.required(controllerField);
    if (!isQualifiedName(controller))
      causes.invalid(controllerField,
                     fmt::format("\"{}\": name part must consist of alphanumeric characters", controller));
    const auto bounded = [&](const char* field, std::size_t most, bool required) {
      const std::string text = textAt(event, {field});
      if (required && text.empty()) causes.required(field);
      if (text.size() > most)
        causes.invalid(field, fmt::format("\"\": can have at most {} characters", most));
    };
    bounded("reportingInstance", 128, true);
    bounded("action", 128, true);
    bounded("reason", 128, true);
    bounded("message", 1024, false);
  }

  bool core_;
};

}  // namespace

Json eventToCore(const Json& event) {
  Json core = event;
  for (const auto& [coreName, newName] : kRenamed) {
    core.erase(newName);
    if (const Json* value = find(event, newName); value != nullptr) core[coreName] = *value;
  }
  for (const char* name : kAlwaysInCore) {
    if (!core.contains(name)) core[name] = "";
  }
  return core;
}

Json eventFromCore(const Json& core) {
  Json event = core;
  for (const char* name : kAlwaysInCore) {
    if (textAt(event, {name}).empty()) event.erase(name);
  }
  const Json trimmed = event;
  for (const auto& [coreName, newName] : kRenamed) {
    event.erase(coreName);
    if (const Json* value = find(trimmed, coreName); value != nullptr) event[newName] = *value;
  }
  return event;
}

std::unique_ptr<Strategy> makeEventStrategy(bool coreVersion) {
  return std::make_unique<EventStrategy>(coreVersion);
}

}  // namespace trainyard::sim
