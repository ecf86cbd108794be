#include "codec/job_status_reader.h"

#include <algorithm>
#include <utility>

#include "codec/conditions.h"
#include "codec/enum_names.h"
#include "codec/progress_status.h"
#include "codec/quota.h"
#include "codec/shape_plan.h"

namespace trainyard::codec {
namespace {

constexpr int kMaxCount = 1'000'000'000;

std::vector<model::RoleStatus> readRoles(const Field& list) {
  std::vector<model::RoleStatus> roles;
  list.forEachElement([&](const Field& each) {
    roles.push_back({.name = each["name"].string(),
                     .desired = each["desired"].smallInteger(0, 0),
                     .active = each["active"].smallInteger(0, 0),
                     .ready = each["ready"].smallInteger(0, 0),
                     .succeeded = each["succeeded"].smallInteger(0, 0),
                     .failed = each["failed"].smallInteger(0, 0)});
  });
  return roles;
}

std::vector<model::Assignment> readAssignments(const Field& list) {
  std::vector<model::Assignment> assignments;
  list.forEachElement([&](const Field& each) {
    const Field indices = each["indices"];
    auto parsed = model::IndexSet::parse(indices.required());
    if (!parsed) return indices.complain(parsed.error().message);
    assignments.push_back({.node = model::NodeName(each["node"].required()),
                           .role = std::string(each["role"].required()),
                           .indices = std::move(*parsed),
                           .epoch = each["epoch"].integer(0, 0, INT64_MAX),
                           .gpuType = each["gpuType"].string()});
  });
  return assignments;
}

std::vector<model::RoleMembers> readRoleMembers(const Field& list) {
  std::vector<model::RoleMembers> members;
  list.forEachElement([&](const Field& each) {
    const Field indices = each["indices"];
    auto parsed = model::IndexSet::parse(indices.required());
    if (!parsed) return indices.complain(parsed.error().message);
    members.push_back({std::string(each["role"].required()), std::move(*parsed)});
  });
  return members;
}

std::vector<model::Victim> readVictims(const Field& list) {
  std::vector<model::Victim> victims;
  list.forEachElement([&](const Field& each) {
    victims.push_back({{each["namespace"].string(), std::string(each["name"].required())},
                       model::Uid(each["uid"].required()),
                       model::NodeName(each["node"].text())});
    if (const std::string_view gang = each["gang"].text(); !gang.empty())
      victims.back().place =
          model::Victim::Place{std::string(gang), each["role"].string(), each["index"].smallInteger(0, 0)};
  });
  return victims;
}

template <typename Enum, std::size_t N>
Enum readEnumName(const Field& field, const EnumNames<Enum, N>& words) {
  const auto value = parseEnumName(words, field.required());
  if (!value) field.refuse("is a value unknown to this version");
  return value.value_or(words.front().second);
}

std::optional<model::Proposal> readProposal(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::Proposal proposal;
  proposal.id = field["id"].text();
  proposal.kind = readEnumName(field["kind"], kProposalKinds);
  proposal.phase = readEnumName(field["phase"], kProposalPhases);
  proposal.epoch = field["epoch"].integer(0, 0, INT64_MAX);
  proposal.term = field["term"].integer(0, 0, INT64_MAX);
  proposal.generation = field["generation"].integer(0, 0, INT64_MAX);
  proposal.templateHash = field["templateHash"].text();
  proposal.deadline = field["deadline"].time().value_or(base::WallTime{});
  proposal.add = readAssignments(field["add"]);
  proposal.remove = readAssignments(field["remove"]);
  proposal.victims = readVictims(field["victims"]);
  proposal.abortReason = field["abortReason"].text();
  if (const Field preemptor = field["movesFor"]; preemptor.present())
    proposal.movesFor = model::ObjectKey{preemptor["namespace"].string(), preemptor["name"].string()};
  return proposal;
}

std::optional<model::Backoff> readBackoff(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::Backoff backoff;
  backoff.until = field["until"].time().value_or(base::WallTime{});
  backoff.count = field["count"].smallInteger(0, 0);
  field["avoidNodes"].forEachElement(
      [&](const Field& node) { backoff.avoidNodes.emplace_back(node.text()); });
  backoff.reason = field["reason"].text();
  backoff.unbindable = field["unbindable"].integer(0, 0, INT64_MAX);
  return backoff;
}

std::optional<model::Charge> readCharge(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::Charge charge;
  charge.queue = model::QueueName(field["queue"].text());
  charge.preemptible = field["preemptible"].boolean(true);
  charge.priority = static_cast<int>(field["priority"].integer(0, INT32_MIN, INT32_MAX));
  field["ancestors"].forEachElement([&](const Field& each) { charge.ancestors.emplace_back(each.text()); });
  field["backfilled"].forEachElement([&](const Field& each) {
    charge.backfilled.push_back({{each["namespace"].string(), each["name"].string()},
                                 model::Uid(each["uid"].text()),
                                 each["from"].time().value_or(base::WallTime{})});
  });
  field["members"].forEachElement([&](const Field& each) {
    charge.members.push_back({std::string(each["role"].required()), readWrittenAmounts(each["requests"])});
  });
  return charge;
}

model::GangRecord readGang(const Field& field) {
  model::GangRecord gang;
  gang.lastEpoch = field["lastEpoch"].integer(0, 0, INT64_MAX);
  if (const Field placed = field["placed"]; placed.present()) {
    gang.placed = model::Placed{placed["epoch"].integer(0, 0, INT64_MAX),
                                readAssignments(placed["assignments"]), readRoleMembers(placed["succeeded"])};
  }
  gang.proposal = readProposal(field["proposal"]);
  gang.backoff = readBackoff(field["backoff"]);
  gang.charge = readCharge(field["charge"]);
  return gang;
}

std::optional<model::Shortfall> readShortfall(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::Shortfall shortfall;
  shortfall.resource = field["resource"].text();
  shortfall.needed = field["needed"].integer(0, INT64_MIN, INT64_MAX);
  shortfall.available = field["available"].integer(0, INT64_MIN, INT64_MAX);
  shortfall.neededNodes = field["neededNodes"].smallInteger(0, 0);
  shortfall.availableNodes = field["availableNodes"].smallInteger(0, 0);
  shortfall.level = field["level"].text();
  shortfall.domain = field["domain"].text();
  return shortfall;
}

std::optional<model::Pending> readPending(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::Pending pending;
  const std::string_view reason = field["reason"].text();
  pending.reason = model::parsePendingReason(reason).value_or(model::PendingReason::kOther);
  if (pending.reason == model::PendingReason::kOther) pending.otherReason = reason;
  pending.message = field["message"].text();
  pending.since = field["since"].time().value_or(base::WallTime{});
  pending.shortfall = readShortfall(field["shortfall"]);
  field["blockedBy"].forEachElement([&](const Field& each) {
    pending.blockedBy.push_back({{each["namespace"].string(), each["name"].string()},
                                 each["nodes"].smallInteger(0, 0),
                                 each["gpus"].smallInteger(0, 0),
                                 each["expectedEndTime"].time()});
  });
  pending.delay = model::parseDelayKind(field["delay"].text()).value_or(pending.delay);
  pending.reservedSince = field["reservedSince"].time();
  pending.nextRelaxation = field["nextRelaxationTime"].time();
  pending.estimatedStart = field["estimatedStartTime"].time();
  return pending;
}

void readHistory(const Field& field, model::JobStatus& status) {
  const Field delays = field["delays"];
  status.delays.fairShare = std::chrono::seconds(delays["fairShareSeconds"].integer(0, 0, INT64_MAX));
  status.delays.fragmentation = std::chrono::seconds(delays["fragmentationSeconds"].integer(0, 0, INT64_MAX));
  status.service.gpuSeconds = field["service"]["gpuSeconds"].integer(0, 0, INT64_MAX);
  status.service.runSeconds = field["service"]["runSeconds"].integer(0, 0, INT64_MAX);
  status.service.updatedAt = field["service"]["updatedAt"].time().value_or(base::WallTime{});
  status.preemptions.count = field["preemptions"]["count"].smallInteger(0, 0);
  status.preemptions.byOtherQueues = field["preemptions"]["byOtherQueues"].smallInteger(0, 0);
  status.preemptions.last = field["preemptions"]["lastTime"].time().value_or(base::WallTime{});
  if (const Field by = field["preemptions"]["lastBy"]; by.present())
    status.preemptions.by = model::ObjectKey{by["namespace"].string(), by["name"].string()};
}

// Counts of a class that this version does not define are added to the unknown class.
model::Restarts readRestarts(const Field& field) {
  model::Restarts restarts;
  field["byClass"].forEachMember([&](std::string_view name, const Field& count) {
    const auto failure = model::parseFailureClass(name).value_or(model::FailureClass::kUnknown);
    const int known = restarts.of(failure);
    if (known == 0) restarts.add(failure, false);
    for (auto& [each, total] : restarts.byClass) {
      if (each == failure) total = std::min(known, kMaxCount) + count.smallInteger(0, 0, kMaxCount);
    }
  });
  restarts.counted = field["counted"].smallInteger(0, 0);
  restarts.lossesInARow = field["lossesInARow"].smallInteger(0, 0, kMaxCount);
  return restarts;
}

model::ResizeStatus readResize(const Field& field) {
  model::ResizeStatus resize;
  if (!field.present()) return resize;
  if (const Field desired = field["desired"]; desired.present()) resize.desired = desired.smallInteger(0, 0);
  resize.decidedBy = parseEnumName(kSizeOwners, field["decidedBy"].text()).value_or(resize.decidedBy);
  resize.message = field["message"].text();
  resize.step = parseEnumName(kResizeSteps, field["step"].text()).value_or(resize.step);
  resize.deadline = field["deadline"].time();
  resize.cooldownUntil = field["cooldownUntil"].time();
  resize.count = field["count"].integer(0, 0, INT64_MAX);
  field["lastPauseMilliseconds"].forEachElement(
      [&](const Field& pause) { resize.lastPauseMillis.push_back(pause.integer(0, 0, INT64_MAX)); });
  field["speeds"].forEachElement([&](const Field& each) {
    resize.speeds.push_back(
        {each["replicas"].smallInteger(0, 0), each["milliSamplesPerSecond"].integer(0, 0, INT64_MAX)});
  });
  return resize;
}

std::optional<model::LastFailure> readLastFailure(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::LastFailure last;
  last.failure = model::parseFailureClass(field["class"].text()).value_or(model::FailureClass::kUnknown);
  last.action = field["action"].text();
  last.message = field["message"].text();
  last.node = model::NodeName(field["node"].text());
  last.pod = field["pod"].text();
  if (const Field code = field["exitCode"]; code.present())
    last.exitCode = static_cast<int>(code.integer(0, INT32_MIN, INT32_MAX));
  last.time = field["time"].time().value_or(base::WallTime{});
  return last;
}

}  // namespace

model::JobStatus readJobStatus(const Field& field) {
  model::JobStatus status;
  status.phase = field["phase"].text();
  status.queue = model::QueueName(field["queue"].text());
  status.observedGeneration = field["observedGeneration"].integer(0, 0, INT64_MAX);
  status.conditions = readConditions(field["conditions"]);
  status.roles = readRoles(field["roles"]);
  status.replicas = field["replicas"].smallInteger(0, 0);
  status.selector = field["selector"].text();
  status.ready = field["ready"].text();
  status.gpus = field["gpus"].integer(0, 0, INT64_MAX);
  status.gang = readGang(field["gang"]);
  status.pending = readPending(field["pending"]);
  readHistory(field, status);
  status.resize = readResize(field["resize"]);
  status.restarts = readRestarts(field["restarts"]);
  status.lastFailure = readLastFailure(field["lastFailure"]);
  status.progress = readProgress(field["progress"]);
  status.plan = readShapePlan(field["plan"]);
  status.startTime = field["startTime"].time();
  status.completionTime = field["completionTime"].time();
  return status;
}

}  // namespace trainyard::codec
