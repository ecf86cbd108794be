#include "codec/job_status.h"

#include "base/time.h"
#include "codec/conditions.h"
#include "codec/enum_names.h"
#include "codec/exact_time.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "codec/merge_patch.h"
#include "codec/progress_status.h"
#include "codec/quota.h"
#include "codec/shape_plan.h"

namespace trainyard::codec {
namespace {

void writeText(JsonWriter& out, std::string_view name, std::string_view text) {
  if (!text.empty()) out.member(name, text);
}

void writeTime(JsonWriter& out, std::string_view name, base::WallTime time) {
  if (time != base::WallTime{}) out.member(name, exactTime(time));
}

template <typename List, typename Write>
void writeList(JsonWriter& out, std::string_view name, const List& list, Write write) {
  if (list.empty()) return;
  out.key(name).beginArray();
  for (const auto& each : list) write(each);
  out.endArray();
}

void writeRoles(const std::vector<model::RoleStatus>& roles, JsonWriter& out) {
  writeList(out, "roles", roles, [&](const model::RoleStatus& role) {
    out.beginObject()
        .member("name", role.name)
        .member("desired", role.desired)
        .member("active", role.active)
        .member("ready", role.ready)
        .member("succeeded", role.succeeded)
        .member("failed", role.failed)
        .endObject();
  });
}

void writeAssignments(JsonWriter& out, std::string_view name,
                      const std::vector<model::Assignment>& assignments) {
  writeList(out, name, assignments, [&](const model::Assignment& each) {
    out.beginObject()
        .member("node", each.node.str())
        .member("role", each.role)
        .member("indices", each.indices.str());
    if (each.epoch != 0) out.member("epoch", each.epoch);
    writeText(out, "gpuType", each.gpuType);
    out.endObject();
  });
}

void writeProposal(const model::Proposal& proposal, JsonWriter& out) {
  out.key("proposal")
      .beginObject()
      .member("id", proposal.id)
      .member("kind", enumName(kProposalKinds, proposal.kind))
      .member("phase", enumName(kProposalPhases, proposal.phase))
      .member("epoch", proposal.epoch)
      .member("term", proposal.term)
      .member("generation", proposal.generation);
  writeText(out, "templateHash", proposal.templateHash);
  writeTime(out, "deadline", proposal.deadline);
  writeText(out, "abortReason", proposal.abortReason);
  if (const auto& preemptor = proposal.movesFor) {
    out.key("movesFor").beginObject().member("namespace", preemptor->ns).member("name", preemptor->name);
    out.endObject();
  }
  writeAssignments(out, "add", proposal.add);
  writeAssignments(out, "remove", proposal.remove);
  writeList(out, "victims", proposal.victims, [&](const model::Victim& victim) {
    out.beginObject()
        .member("namespace", victim.pod.ns)
        .member("name", victim.pod.name)
        .member("uid", victim.uid.str());
    writeText(out, "node", victim.node.str());
    if (const auto& place = victim.place)
      out.member("gang", place->gang).member("role", place->role).member("index", place->index);
    out.endObject();
  });
  out.endObject();
}

void writeCharge(const model::Charge& charge, JsonWriter& out) {
  out.key("charge")
      .beginObject()
      .member("queue", charge.queue.str())
      .memberBool("preemptible", charge.preemptible)
      .member("priority", charge.priority);
  writeList(out, "ancestors", charge.ancestors,
            [&](const model::QueueName& each) { out.string(each.str()); });
  writeList(out, "backfilled", charge.backfilled, [&](const model::Charge::Backfill& each) {
    out.beginObject()
        .member("namespace", each.holder.ns)
        .member("name", each.holder.name)
        .member("uid", each.uid.str());
    writeTime(out, "from", each.from);
    out.endObject();
  });
  writeList(out, "members", charge.members, [&](const model::Charge::Member& each) {
    out.beginObject().member("role", each.role).key("requests");
    writeAmounts(each.requests, out);
    out.endObject();
  });
  out.endObject();
}

void writeGang(const model::GangRecord& gang, JsonWriter& out) {
  if (gang == model::GangRecord{}) return;
  out.key("gang").beginObject().member("lastEpoch", gang.lastEpoch);
  if (gang.placed) {
    out.key("placed").beginObject().member("epoch", gang.placed->epoch);
    writeAssignments(out, "assignments", gang.placed->assignments);
    writeList(out, "succeeded", gang.placed->succeeded, [&](const model::RoleMembers& each) {
      out.beginObject().member("role", each.role).member("indices", each.indices.str());
      out.endObject();
    });
    out.endObject();
  }
  if (gang.proposal) writeProposal(*gang.proposal, out);
  if (gang.charge) writeCharge(*gang.charge, out);
  if (gang.backoff) {
    out.key("backoff").beginObject();
    writeTime(out, "until", gang.backoff->until);
    out.member("count", gang.backoff->count);
    writeText(out, "reason", gang.backoff->reason);
    if (gang.backoff->unbindable != 0) out.member("unbindable", gang.backoff->unbindable);
    writeList(out, "avoidNodes", gang.backoff->avoidNodes,
              [&](const model::NodeName& node) { out.string(node.str()); });
    out.endObject();
  }
  out.endObject();
}

void writePending(const model::Pending& pending, JsonWriter& out) {
  out.key("pending").beginObject().member("reason", pending.reasonText());
  writeText(out, "message", pending.message);
  writeTime(out, "since", pending.since);
  if (const auto& shortfall = pending.shortfall) {
    out.key("shortfall").beginObject();
    writeText(out, "resource", shortfall->resource);
    out.member("needed", shortfall->needed).member("available", shortfall->available);
    out.member("neededNodes", shortfall->neededNodes).member("availableNodes", shortfall->availableNodes);
    writeText(out, "level", shortfall->level);
    writeText(out, "domain", shortfall->domain);
    out.endObject();
  }
  writeList(out, "blockedBy", pending.blockedBy, [&](const model::Blocker& each) {
    out.beginObject()
        .member("namespace", each.job.ns)
        .member("name", each.job.name)
        .member("nodes", each.nodes)
        .member("gpus", each.gpus);
    if (each.expectedEnd) writeTime(out, "expectedEndTime", *each.expectedEnd);
    out.endObject();
  });
  if (pending.delay != model::DelayKind::kNone) out.member("delay", toString(pending.delay));
  if (pending.reservedSince) writeTime(out, "reservedSince", *pending.reservedSince);
  if (pending.nextRelaxation) writeTime(out, "nextRelaxationTime", *pending.nextRelaxation);
  if (pending.estimatedStart) writeTime(out, "estimatedStartTime", *pending.estimatedStart);
  out.endObject();
}

void writeHistory(const model::JobStatus& status, JsonWriter& out) {
  if (status.delays != model::Delays()) {
    out.key("delays")
        .beginObject()
        .member("fairShareSeconds", status.delays.fairShare.count())
        .member("fragmentationSeconds", status.delays.fragmentation.count())
        .endObject();
  }
  if (status.service != model::Service()) {
    out.key("service")
        .beginObject()
        .member("gpuSeconds", status.service.gpuSeconds)
        .member("runSeconds", status.service.runSeconds);
    writeTime(out, "updatedAt", status.service.updatedAt);
    out.endObject();
  }
  if (status.preemptions.count != 0) {
    out.key("preemptions").beginObject().member("count", status.preemptions.count);
    if (status.preemptions.byOtherQueues != 0) out.member("byOtherQueues", status.preemptions.byOtherQueues);
    writeTime(out, "lastTime", status.preemptions.last);
    if (const auto& by = status.preemptions.by)
      out.key("lastBy").beginObject().member("namespace", by->ns).member("name", by->name).endObject();
    out.endObject();
  }
  if (status.restarts != model::Restarts()) {
    out.key("restarts").beginObject().member("counted", status.restarts.counted);
    if (status.restarts.lossesInARow != 0) out.member("lossesInARow", status.restarts.lossesInARow);
    if (!status.restarts.byClass.empty()) {
      out.key("byClass").beginObject();
      for (const auto& [failure, count] : status.restarts.byClass) out.member(toString(failure), count);
      out.endObject();
    }
    out.endObject();
  }
}

void writeResize(const model::ResizeStatus& resize, JsonWriter& out) {
  if (resize == model::ResizeStatus{}) return;
  out.key("resize").beginObject();
  if (resize.desired) out.member("desired", *resize.desired);
  if (resize.decidedBy != model::SizeOwner::kSpec)
    out.member("decidedBy", enumName(kSizeOwners, resize.decidedBy));
  writeText(out, "message", resize.message);
  if (resize.step != model::ResizeStep::kNone) out.member("step", enumName(kResizeSteps, resize.step));
  if (resize.deadline) writeTime(out, "deadline", *resize.deadline);
  if (resize.cooldownUntil) writeTime(out, "cooldownUntil", *resize.cooldownUntil);
  if (resize.count != 0) out.member("count", resize.count);
  writeList(out, "lastPauseMilliseconds", resize.lastPauseMillis,
            [&](std::int64_t pause) { out.integer(pause); });
  writeList(out, "speeds", resize.speeds, [&](const model::SpeedPoint& each) {
    out.beginObject()
        .member("replicas", each.replicas)
        .member("milliSamplesPerSecond", each.milliSamplesPerSecond)
        .endObject();
  });
  out.endObject();
}

void writeLastFailure(const model::LastFailure& last, JsonWriter& out) {
  out.key("lastFailure").beginObject().member("class", toString(last.failure));
  writeText(out, "action", last.action);
  writeText(out, "message", last.message);
  writeText(out, "node", last.node.str());
  writeText(out, "pod", last.pod);
  if (last.exitCode) out.member("exitCode", *last.exitCode);
  if (last.time != base::WallTime{}) out.member("time", base::formatTime(last.time));
  out.endObject();
}

}  // namespace

std::string encodeJobStatus(const model::JobStatus& status) {
  JsonWriter out;
  out.beginObject();
  writeText(out, "phase", status.phase);
  writeText(out, "queue", status.queue.str());
  out.member("observedGeneration", status.observedGeneration);
  writeConditions(status.conditions, out);
  writeRoles(status.roles, out);
  out.member("replicas", status.replicas);
  writeText(out, "selector", status.selector);
  writeText(out, "ready", status.ready);
  out.member("gpus", status.gpus);
  writeGang(status.gang, out);
  if (status.pending) writePending(*status.pending, out);
  writeHistory(status, out);
  writeResize(status.resize, out);
  if (status.lastFailure) writeLastFailure(*status.lastFailure, out);
  if (status.progress) writeProgress(*status.progress, out);
  if (status.plan) writeShapePlan(*status.plan, out);
  if (status.startTime) out.member("startTime", base::formatTime(*status.startTime));
  if (status.completionTime) out.member("completionTime", base::formatTime(*status.completionTime));
  out.endObject();
  return std::move(out).take();
}

std::optional<std::string> encodeStatusPatch(const model::Job& before, const model::JobStatus& after) {
  return encodeStatusChange(before.resourceVersion, encodeJobStatus(before.status), encodeJobStatus(after));
}

}  // namespace trainyard::codec
