#include "codec/failure_cases.h"

#include <catch2/catch.hpp>

#include "codec/member_evidence.h"
#include "codec/policy.h"

using namespace trainyard;

namespace {

std::string refusal(const std::string& json) {
  const auto cases = codec::decodeFailureCases(json, "f.json");
  return cases ? "taken" : cases.error().message;
}

std::string policyRefusal(const std::string& rule) {
  const auto policy = codec::decodePolicy("failures:\n  rules:\n  - " + rule + "\n", "p.yaml");
  return policy ? "taken" : policy.error().message;
}

}  // namespace

TEST_CASE("a case is read with everything that its members report") {
  const auto cases = codec::decodeFailureCases(
      R"({"name": "c", "members": [{"role": "worker", "index": 2, "node": "n1", "log": "x\ny",
          "status": {"phase": "Failed", "reason": "Evicted", "message": "low on memory",
            "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}],
            "initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 3, "signal": 9}}}],
            "containerStatuses": [{"name": "m", "state": {"waiting": {"reason": "CrashLoopBackOff"}},
              "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:00:07Z"}}}]}}],
          "expect": {"class": "Evicted", "rootMember": "worker-2"}})",
      "f.json");
  REQUIRE(cases);
  REQUIRE(cases->size() == 1);
  const model::MemberEvidence& member = cases->front().members.front();
  CHECK(member.role == "worker");
  CHECK(member.index == 2);
  CHECK(member.phase == model::PodPhase::kFailed);
  CHECK(member.reason == "Evicted");
  CHECK(member.conditions.front().holds);
  REQUIRE(member.containers.size() == 2);
  CHECK(member.containers[0].signal == 9);
  CHECK(member.containers[1].waitingReason == "CrashLoopBackOff");
  CHECK(member.containers[1].exitCode == 1);
  CHECK(member.containers[1].finishedAt);
  CHECK(cases->front().expect->failure == model::FailureClass::kEvicted);
}

TEST_CASE("a refused case names the file and the field") {
  CHECK(refusal("[").starts_with("f.json: "));
  CHECK(refusal("[]") == "f.json: holds no case");
  CHECK(refusal("5").starts_with("f.json: "));
  CHECK(refusal(R"([{"members": [{"status": {}}]}])") == "f.json: [0].members[0].role: is required");
  CHECK(refusal(R"([{"members": []}])") == "f.json: [0].members: needs at least one member");
  CHECK(refusal(R"({"members": [{"role": "w"}]})") == "f.json: members[0].status: is required");
  CHECK(refusal(R"({"members": [{"role": "w", "status": {}, "logs": ""}]})")
            .starts_with("f.json: members[0][logs]: is not a known key; known are role"));
  CHECK(refusal(R"({"members": [{"role": "w", "status": {"containerStatuses": [{"state": 5}]}}]})") ==
        "f.json: members[0].status.containerStatuses[0].state: expected an object, is 5");
  CHECK(refusal(R"({"members": [{"role": "w", "status": {}}], "expect": {"class": "Odd"}})") ==
        "f.json: expect.class: must be a class of failures, is \"Odd\"");
}

TEST_CASE("the end of a pod is read from the pod as the API shows it") {
  const auto member = codec::decodePodEnd(
      R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n7"}, "status": {"phase": "Failed", "reason": "OutOfcpu"}})");
  REQUIRE(member);
  CHECK(member->node == "n7");
  CHECK(member->reason == "OutOfcpu");
  CHECK_FALSE(codec::decodePodEnd("7"));
}

TEST_CASE("a policy's failure rules are read and invalid ones are refused with their position") {
  const auto policy = codec::decodePolicy(
      "failures:\n  rules:\n"
      "  - {name: licence, class: StorageUnavailable, log: 'FLEXlm error', exitCodes: [9], action: Restart}\n"
      "  - {name: maintenance, class: Preempted, reason: ^Maintenance$}\n",
      "p.yaml");
  REQUIRE(policy);
  REQUIRE(policy->failureRules.size() == 2);
  CHECK(policy->failureRules[0].exitCodes == std::vector<int>{9});
  CHECK(policy->failureRules[0].action == model::FailureAction::kRestart);
  CHECK(policy->failureRules[1].sign == model::Sign::kFact);

  CHECK(policyRefusal("{name: a, class: Odd, log: x}")
            .starts_with("p.yaml:3: failures.rules[0].class: must be one of UserCodeError, "));
  CHECK(policyRefusal("{name: a, class: Aborted, log: 'a('}") ==
        "p.yaml:3: failures.rules[0].log: is not a regular expression (RE2): missing ): a(");
  CHECK(policyRefusal("{name: a, class: Aborted}") ==
        "p.yaml:3: failures.rules[0]: needs log, reason, message, exitCodes or signal");
  CHECK(policyRefusal("{class: Aborted, log: x}") == "p.yaml:3: failures.rules[0]: needs a name");
  CHECK(policyRefusal("{name: a, class: Aborted, log: x, action: Stop}")
            .starts_with("p.yaml:3: failures.rules[0].action: must be EndNow"));
  CHECK(policyRefusal("{name: a, class: Aborted, exitCodes: [0]}")
            .starts_with("p.yaml:3: failures.rules[0].exitCodes[0]: must be a whole number from 1 to 255"));
  CHECK(policyRefusal("{name: a, class: Aborted, log: x}\n  - {name: a, class: Aborted, log: y}")
            .starts_with("p.yaml:4: failures.rules[1].name: must be used once only"));
}
