#include "cli/job_text.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/progress_text.h"
#include "cli/table.h"
#include "codec/enum_names.h"
#include "codec/job_status.h"
#include "codec/json_writer.h"
#include "core/ledger/ledger.h"
#include "core/status/describe.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "model/message_text.h"

namespace trainyard::cli {
namespace {

using model::Assignment;
using model::Job;
namespace conditions = model::conditions;

// The assignments of the record: those of the placed gang, or else those of the proposal.
const std::vector<Assignment>* assignedNodesOf(const Job& job) {
  const model::GangRecord& gang = job.status.gang;
  if (gang.placed) return &gang.placed->assignments;
  return gang.proposal ? &gang.proposal->add : nullptr;
}

// Returns "2 nodes in rack z/b1/r1": from the operator's own message if the job's status has it.
std::string describe(const Job& job, const std::vector<Assignment>& assignments, const Where& where) {
  const model::Condition* scheduled = job.condition(conditions::kScheduled);
  const bool isPlaced = scheduled != nullptr && scheduled->status == model::ConditionStatus::kTrue;
  if (const auto at = isPlaced ? scheduled->message.find(" pods on ") : std::string::npos;
      at != std::string::npos)
    return scheduled->message.substr(at + std::string_view(" pods on ").size());
  model::Snapshot snapshot;
  snapshot.nodes = where.nodes;
  return core::describePlacement(assignments, core::Ledger(snapshot),
                                 where.topology.value_or(std::vector<model::TopologyLevel>{}));
}

// Returns the levels above the single node; none if they are not known.
std::vector<model::TopologyLevel> levelsAboveNodes(const Where& where) {
  auto levels = where.topology.value_or(std::vector<model::TopologyLevel>{});
  if (!levels.empty()) levels.pop_back();
  return levels;
}

// Returns a heading such as "RACK".
std::string headingOf(const std::vector<model::TopologyLevel>& levels) {
  std::string name = levels.back().name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return name;
}

// Returns "z/b1/r1"; "?" if the node could not be read.
std::string domainOf(const model::NodeName& name, const Where& where) {
  const auto at = std::find_if(where.nodes.begin(), where.nodes.end(),
                               [&](const auto& node) { return node->name == name; });
  if (at == where.nodes.end()) return "?";
  std::string path;
  for (const model::TopologyLevel& level : levelsAboveNodes(where)) {
    const std::string* value = (*at)->labels.find(level.labelKey);
    if (value != nullptr) path += (path.empty() ? "" : "/") + *value;
  }
  return path.empty() ? "-" : path;
}

std::string orDash(std::string text) { return text.empty() ? "-" : text; }

std::string whyOf(const Job& job) {
  if (job.status.pending) return std::string(job.status.pending->reasonText());
  const model::Condition* admitted = job.condition(conditions::kAdmitted);
  return admitted != nullptr && admitted->status == model::ConditionStatus::kFalse ? admitted->reason : "";
}

// Returns "worker 0-3" for each node; for several roles "chief 0, worker 0-3".
std::map<model::NodeName, std::string> membersByNode(const std::vector<Assignment>& assignments) {
  std::map<model::NodeName, std::string> byNode;
  for (const Assignment& each : assignments) {
    std::string& text = byNode[each.node];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.role, each.indices.str());
  }
  return byNode;
}

std::string assignedNodesTable(const std::vector<Assignment>& assignments, const Where& where) {
  const auto levels = levelsAboveNodes(where);
  std::vector<std::vector<std::string>> rows{{"  NODE", "MEMBERS"}};
  if (!levels.empty()) rows.front().insert(rows.front().begin() + 1, headingOf(levels));
  for (const auto& [node, members] : membersByNode(assignments)) {
    rows.push_back({"  " + node.str(), members});
    if (!levels.empty()) rows.back().insert(rows.back().begin() + 1, domainOf(node, where));
  }
  return formatTable(rows);
}

std::string conditionsTable(const Job& job, base::WallTime now) {
  if (job.status.conditions.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"  CONDITION", "STATUS", "SINCE", "REASON", "MESSAGE"}};
  for (const model::Condition& each : job.status.conditions) {
    rows.push_back({"  " + each.type, std::string(codec::enumName(codec::kConditionStatuses, each.status)),
                    formatAge(each.lastTransition, now), orDash(each.reason), each.message});
  }
  return formatTable(rows);
}

std::string rolesTable(const Job& job) {
  if (job.status.roles.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"  ROLE", "DESIRED", "ACTIVE", "READY", "SUCCEEDED", "FAILED"}};
  for (const model::RoleStatus& each : job.status.roles) {
    rows.push_back({"  " + each.name, fmt::to_string(each.desired), fmt::to_string(each.active),
                    fmt::to_string(each.ready), fmt::to_string(each.succeeded), fmt::to_string(each.failed)});
  }
  return formatTable(rows);
}

std::string shortfallText(const model::Shortfall& shortfall) {
  std::string text =
      fmt::format("{} needed, {} usable", model::amountOf(shortfall.resource, shortfall.needed),
                  model::amountOf(shortfall.resource, shortfall.available));
  if (shortfall.neededNodes > 0) {
    text +=
        fmt::format("; {} of {} {} usable", shortfall.availableNodes,
                    model::counted(shortfall.neededNodes, "node"), shortfall.neededNodes == 1 ? "is" : "are");
  }
  if (!shortfall.level.empty()) text += fmt::format(", in {} {}", shortfall.level, orDash(shortfall.domain));
  return text;
}

std::string blockersText(const std::vector<model::Blocker>& blockers) {
  std::vector<std::string> words;
  for (const model::Blocker& each : blockers) {
    std::string text = fmt::to_string(each.job);
    if (each.nodes > 0)
      text += fmt::format(" ({}, {})", model::counted(each.nodes, "node"), model::counted(each.gpus, "GPU"));
    words.push_back(std::move(text));
  }
  return model::joinList(words);
}

// Returns "ml/bert waits (WaitingForTopology), for 12m:" and the numbers.
std::string explainPending(const Job& job, const model::Pending& pending, base::WallTime now) {
  std::string text = fmt::format("{} waits: {}, for {}.\n  {}\n", job.key, pending.reasonText(),
                                 formatAge(pending.since, now), pending.message);
  if (pending.shortfall) text += fmt::format("  Short of: {}.\n", shortfallText(*pending.shortfall));
  if (!pending.blockedBy.empty()) text += fmt::format("  Blocked by: {}.\n", blockersText(pending.blockedBy));
  if (pending.estimatedStart) {
    text += fmt::format("  Expected to start about {} (in {}), by the estimates of the jobs ahead.\n",
                        base::formatTime(*pending.estimatedStart), formatAge(now, *pending.estimatedStart));
  } else if (!pending.blockedBy.empty()) {
    text +=
        "  Its start is unknown: a job ahead of it has no estimate (spec.estimate), and no similar job has "
        "run.\n";
  }
  if (const auto& preempted = job.status.preemptions; preempted.by) {
    text +=
        fmt::format("  Preempted by {} at {}, {} in all.\n", *preempted.by, base::formatTime(preempted.last),
                    preempted.count == 1 ? "once" : fmt::format("{} times", preempted.count));
  }
  return text;
}

std::string explainBackoff(const model::Backoff& backoff, base::WallTime now) {
  std::string text = fmt::format("  Aborted {} in a row; the last reason: {}.\n",
                                 model::counted(backoff.count, "attempt"), orDash(backoff.reason));
  if (backoff.until > now) {
    text += fmt::format("  The next attempt may begin at {}", base::formatTime(backoff.until));
    if (!backoff.avoidNodes.empty()) {
      std::vector<std::string> names;
      for (const model::NodeName& each : backoff.avoidNodes) names.push_back(each.str());
      text += fmt::format(", without {}", model::joinList(names));
    }
    text += ".\n";
  }
  return text;
}

std::string explainProposal(const Job& job, const model::Proposal& proposal, const Where& where) {
  if (proposal.phase == model::ProposalPhase::kAborting) {
    return fmt::format(
        "{}: an attempt is being aborted: {}. Its nodes stay reserved until its pods are gone.\n", job.key,
        orDash(proposal.abortReason));
  }
  const model::Condition* resizing = job.condition(model::conditions::kResizing);
  const bool resizes = resizing != nullptr && resizing->status == model::ConditionStatus::kTrue;
  if (resizes && proposal.add.empty()) return fmt::format("{} {}.\n", job.key, resizing->message);
  if (resizes)
    return fmt::format("{} {}.\n{}", job.key, resizing->message, assignedNodesTable(proposal.add, where));
  std::size_t members = 0;
  for (const Assignment& each : proposal.add) members += each.indices.size();
  return fmt::format("{} is being placed: {}, {} on {}, to be bound by {}.\n{}", job.key,
                     codec::enumName(codec::kProposalPhases, proposal.phase),
                     model::counted(static_cast<std::int64_t>(members), "member"),
                     describe(job, proposal.add, where), base::formatTime(proposal.deadline),
                     assignedNodesTable(proposal.add, where));
}

// Explains a job that is not pending by one of its conditions; empty if the condition is not true.
std::string explainCondition(const Job& job, std::string_view type, std::string_view verb,
                             base::WallTime now) {
  const model::Condition* found = job.condition(type);
  if (found == nullptr || found->status != model::ConditionStatus::kTrue) return {};
  std::string text = fmt::format("{} {}, {} ago: {}.\n", job.key, verb, formatAge(found->lastTransition, now),
                                 orDash(found->reason));
  if (!found->message.empty()) text += fmt::format("  {}\n", found->message);
  return text;
}

std::string explainRefusal(const Job& job) {
  const model::Condition* admitted = job.condition(conditions::kAdmitted);
  if (admitted == nullptr || admitted->status != model::ConditionStatus::kFalse) return {};
  return fmt::format("{} is not admitted: {}.\n  {}\n", job.key, admitted->reason, admitted->message);
}

void writeJob(codec::JsonWriter& out, const Job& job, const Where& where) {
  out.beginObject()
      .member("namespace", job.key.ns)
      .member("name", job.key.name)
      .member("uid", job.uid.str())
      .member("queue", model::shownQueue(job).str())
      .member("created", base::formatTime(job.created))
      .memberBool("suspended", job.spec.run.suspend)
      .key("status")
      .raw(codec::encodeJobStatus(job.status));
  if (const auto* assignments = assignedNodesOf(job)) {
    out.key("nodes").beginArray();
    for (const auto& [node, members] : membersByNode(*assignments)) {
      out.beginObject().member("name", node.str()).member("members", members);
      if (const std::string domain = domainOf(node, where); domain != "?") out.member("domain", domain);
      out.endObject();
    }
    out.endArray();
  }
  out.endObject();
}

// Returns the operator's choice, if the job asks for a plan.
std::string explainPlan(const Job& job) {
  const auto& plan = job.status.plan;
  if (!job.spec.plan.automatic || !plan || job.finished()) return {};
  return fmt::format("  {}: {}.\n", plan->roles.empty() ? "Not planned, as spec.roles has it" : "Planned",
                     plan->message);
}

std::string explainState(const Job& job, const Where& where, base::WallTime now) {
  const model::JobStatus& status = job.status;
  if (std::string ended = explainCondition(job, conditions::kSucceeded, "succeeded", now); !ended.empty())
    return ended;
  if (std::string ended = explainCondition(job, conditions::kFailed, "failed", now); !ended.empty())
    return ended;
  if (job.deleting)
    return fmt::format("{} is being deleted; it is removed when its pods are gone.\n", job.key);
  if (std::string refused = explainRefusal(job); !refused.empty()) return refused;
  if (status.gang.proposal) return explainProposal(job, *status.gang.proposal, where);
  if (status.gang.placed) {
    const auto& assignments = status.gang.placed->assignments;
    return fmt::format("{} is placed: {}; {} ready.\n{}", job.key, describe(job, assignments, where),
                       orDash(status.ready), assignedNodesTable(assignments, where));
  }
  if (job.spec.run.suspend) return fmt::format("{} is suspended: spec.run.suspend is true.\n", job.key);
  if (status.pending) {
    std::string text = explainPending(job, *status.pending, now);
    if (status.gang.backoff) text += explainBackoff(*status.gang.backoff, now);
    return text;
  }
  if (status.conditions.empty()) {
    return fmt::format(
        "{} has not been processed since it was created, {} ago. Is trainyard-operator running?\n", job.key,
        formatAge(job.created, now));
  }
  return fmt::format("{} is in phase {}.\n{}", job.key, orDash(status.phase), conditionsTable(job, now));
}

}  // namespace

std::vector<model::NodeName> nodesOf(const Job& job) {
  std::set<model::NodeName> names;
  if (const auto* assignments = assignedNodesOf(job)) {
    for (const Assignment& each : *assignments) names.insert(each.node);
  }
  return {names.begin(), names.end()};
}

std::string jobsTable(const std::vector<Job>& jobs, bool withNamespace, base::WallTime now) {
  std::vector<std::vector<std::string>> rows{{"NAME", "PHASE", "QUEUE", "READY", "GPUS", "WHY", "AGE"}};
  for (const Job& job : jobs) {
    rows.push_back({job.key.name, orDash(job.status.phase), orDash(model::shownQueue(job).str()),
                    orDash(job.status.ready), fmt::to_string(job.status.gpus), orDash(whyOf(job)),
                    formatAge(job.created, now)});
  }
  if (withNamespace) {
    rows[0].insert(rows[0].begin(), "NAMESPACE");
    for (std::size_t i = 0; i < jobs.size(); ++i) rows[i + 1].insert(rows[i + 1].begin(), jobs[i].key.ns);
  }
  return formatTable(rows);
}

std::string jobsJson(const std::vector<Job>& jobs) {
  codec::JsonWriter out;
  out.beginObject().key("items").beginArray();
  for (const Job& job : jobs) writeJob(out, job, {});
  out.endArray().endObject();
  return std::move(out).take() + "\n";
}

std::string jobDetails(const Job& job, const Where& where, base::WallTime now) {
  std::string text = formatTable({{"Job:", fmt::to_string(job.key)},
                                  {"Phase:", orDash(job.status.phase)},
                                  {"Queue:", orDash(model::shownQueue(job).str())},
                                  {"Ready:", orDash(job.status.ready)},
                                  {"GPUs:", fmt::to_string(job.status.gpus)},
                                  {"Age:", formatAge(job.created, now)}});
  if (job.status.pending) text += explainPending(job, *job.status.pending, now);
  text += progressText(job, now);
  text += explainPlan(job);
  if (const std::string roles = rolesTable(job); !roles.empty()) text += "\n" + roles;
  if (const auto* assignments = assignedNodesOf(job)) {
    text +=
        fmt::format("\n  {}\n", describe(job, *assignments, where)) + assignedNodesTable(*assignments, where);
  }
  if (const std::string table = conditionsTable(job, now); !table.empty()) text += "\n" + table;
  return text;
}

std::string jobJson(const Job& job, const Where& where) {
  codec::JsonWriter out;
  writeJob(out, job, where);
  return std::move(out).take() + "\n";
}

std::string explainJob(const Job& job, const Where& where, base::WallTime now) {
  return explainState(job, where, now) + explainPlan(job);
}

}  // namespace trainyard::cli
