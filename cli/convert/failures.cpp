#include "cli/convert/failures.h"

#include <algorithm>
#include <utility>

namespace trainyard::cli {
namespace {

constexpr int kFirstSignal = 128;

const char* actionOf(OnFailure what) { return what == OnFailure::kEnd ? "FailJob" : "Count"; }

Json ruleOf(OnFailure what, const std::vector<std::string>& roles) {
  Json rule = Json::object();
  rule["action"] = actionOf(what);
  if (!roles.empty()) rule["roles"] = roles;
  return rule;
}

Json onCodes(Json rule, const char* op, Json values) {
  rule["onExitCodes"]["operator"] = op;
  rule["onExitCodes"]["values"] = std::move(values);
  return rule;
}

// No operator of exit codes matches every code: use one rule for 1, and one for all codes except 1.
void addForAllCodes(OnFailure what, const std::vector<std::string>& roles, Json& rules) {
  rules.push_back(onCodes(ruleOf(what, roles), "In", Json::array({1})));
  rules.push_back(onCodes(ruleOf(what, roles), "NotIn", Json::array({1})));
}

}  // namespace

void FailureDraft::exitCode(int code, OnFailure what, std::vector<std::string> roles) {
  rules_.push_back(onCodes(ruleOf(what, roles), "In", Json::array({code})));
}

void FailureDraft::disruption(std::vector<std::string> roles) {
  Json rule = ruleOf(OnFailure::kEnd, roles);
  Json condition = Json::object();
  condition["type"] = "DisruptionTarget";
  rule["onPodConditions"] = Json::array({std::move(condition)});
  rules_.push_back(std::move(rule));
}

std::vector<std::string> FailureDraft::rolesWith(OnFailure what) const {
  std::vector<std::string> names;
  for (const OfRole& each : roles_) {
    if (each.what == what) names.push_back(each.name);
  }
  return names;
}

Json FailureDraft::write() const {
  const bool allEnd = std::all_of(roles_.begin(), roles_.end(),
                                  [](const OfRole& each) { return each.what == OnFailure::kEnd; });
  if (roles_.empty() && rules_.empty()) return {};
  Json failure = Json::object();
  Json rules = Json::array();
  for (const Json& each : rules_) rules.push_back(each);
  const bool counts = std::any_of(rules_.begin(), rules_.end(),
                                  [](const Json& rule) { return rule.at("action") == "Count"; });
  if (allEnd && !counts) {
    failure["maxRestarts"] = 0;
  } else {
    failure["maxRestarts"] = limit_.value_or(Json(kMaxRestarts));
    if (memberOnly_) failure["restartScope"] = "Pod";
    for (const OnFailure what : {OnFailure::kEnd, OnFailure::kByExitCode, OnFailure::kRestart}) {
      std::vector<std::string> roles = rolesWith(what);
      if (roles.empty()) continue;
      if (roles.size() == roles_.size()) roles.clear();
      if (what == OnFailure::kByExitCode) {
        Json values = Json::array();
        for (int code = 1; code < kFirstSignal; ++code) values.push_back(code);
        rules.push_back(onCodes(ruleOf(OnFailure::kEnd, roles), "In", std::move(values)));
        rules.push_back(onCodes(ruleOf(OnFailure::kRestart, roles), "NotIn", Json::array({1})));
      } else {
        addForAllCodes(what, roles, rules);
      }
    }
  }
  if (!rules.empty()) failure["rules"] = std::move(rules);
  return failure;
}

}  // namespace trainyard::cli
