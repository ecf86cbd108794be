#include "codec/failure_policy.h"

#include <array>
#include <string_view>
#include <utility>

#include "codec/job_spec.h"
#include "codec/read_enum.h"

namespace trainyard::codec {
namespace {

using model::JobSpec;

constexpr int kMaxRestarts = 1'000;
constexpr int kMaxExitCode = 255;
// The bounds of lists, as in the schema. They are checked here because not every input has passed the schema.
constexpr std::size_t kMaxPolicyRules = 20;
constexpr std::size_t kMaxPolicyExitCodes = 255;
constexpr std::size_t kMaxPodConditions = 20;

model::RestartScope readRestartScope(const Field& field) {
  using enum model::RestartScope;
  static constexpr std::array<std::pair<std::string_view, model::RestartScope>, 2> kScopes{
      {{"Gang", kGang}, {"Pod", kPod}}};
  return readEnum(field, kScopes, kGang);
}

model::PodFailureRule::ExitCodes readExitCodes(const Field& field) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kOperators{
      {{"In", true}, {"NotIn", false}}};
  model::PodFailureRule::ExitCodes codes;
  codes.container = field["containerName"].text();
  if (field["operator"].required().empty()) return codes;
  codes.in = readEnum(field["operator"], kOperators, true);
  field["values"].forEachUpTo(kMaxPolicyExitCodes, [&](const Field& value) {
    codes.values.push_back(value.smallInteger(1, 1, kMaxExitCode));
  });
  if (codes.values.empty()) field["values"].complain("needs at least one exit code");
  return codes;
}

model::PodFailureRule readFailureRule(const Field& field, const JobSpec& spec) {
  using enum model::PodFailureRule::Action;
  static constexpr std::array<std::pair<std::string_view, model::PodFailureRule::Action>, 3> kActions{
      {{"FailJob", kFailJob}, {"Count", kCount}, {"Ignore", kIgnore}}};
  model::PodFailureRule rule;
  if (!field["action"].required().empty()) rule.action = readEnum(field["action"], kActions, kFailJob);
  field["roles"].forEachUpTo(kMaxRoles, [&](const Field& role) {
    if (spec.findRole(role.text()) == nullptr) role.refuse("must name a role of spec.roles");
    rule.roles.push_back(role.string());
  });
  if (const Field codes = field["onExitCodes"]; codes.present()) rule.exitCodes = readExitCodes(codes);
  field["onPodConditions"].forEachUpTo(kMaxPodConditions, [&](const Field& each) {
    rule.podConditions.push_back(
        {std::string(each["type"].required()), std::string(each["status"].text("True"))});
  });
  if (rule.exitCodes.has_value() == !rule.podConditions.empty())
    field.complain("needs either onExitCodes or onPodConditions, and not both");
  return rule;
}

}  // namespace

model::FailurePolicy readFailure(const Field& field, const JobSpec& spec) {
  model::FailurePolicy failure;
  if (const Field most = field["maxRestarts"]; most.present())
    failure.maxRestarts = most.smallInteger(0, 0, kMaxRestarts);
  failure.scope = readRestartScope(field["restartScope"]);
  field["rules"].forEachUpTo(
      kMaxPolicyRules, [&](const Field& rule) { failure.rules.push_back(readFailureRule(rule, spec)); });
  return failure;
}

}  // namespace trainyard::codec
