#include "operator/console/job_page.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/plain_text.h"
#include "codec/enum_names.h"
#include "codec/job.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "core/place.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/gpu_resources.h"
#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::operator_::console {
namespace {

using codec::JsonWriter;
using model::Job;

constexpr int kMaxMembers = 4'096;
constexpr int kMaxGpus = 1'024;
constexpr int kMaxHours = 8'784;
constexpr std::size_t kMaxMoments = 300;

struct Moment {
  std::string time;  // RFC 3339 in UTC: sorts as text
  std::string what;
  std::string why;
  bool ahead = false;  // expected
};

class Page {
 public:
  Page(const Facts& facts, const Viewer& viewer, const Job& job)
      : facts_(facts), viewer_(viewer), job_(job), status_(job.status) {}

  std::string write(std::string_view events) {
    out_.beginObject().member("ns", job_.key.ns).member("name", job_.key.name);
    writeSpec();
    writeRoles();
    writePending();
    writeAssignedNodes();
    writeConditions();
    writeHistory();
    collect(events);
    writeMoments();
    out_.endObject();
    return std::move(out_).take();
  }

 private:
  [[nodiscard]] std::string clean(std::string_view text) const {
    return base::plainText(withoutOthers(text, viewer_, facts_.namespaces), false);
  }

  void writeSpec() {
    out_.member("phase", status_.phase.empty() ? "Pending" : status_.phase).member("ready", status_.ready);
    out_.member("queue", model::shownQueue(job_).str()).member("priority", job_.spec.priorityClassName);
    out_.memberBool("preemptible", job_.spec.preemptible).memberBool("suspend", job_.spec.run.suspend);
    out_.member("gpus", model::gangGpus(job_.spec, status_.gang));
    out_.member("required", job_.spec.locality.required);
    if (job_.spec.estimatedDuration) out_.member("estimateSeconds", job_.spec.estimatedDuration->count());
    if (job_.spec.elastic) {
      out_.key("elastic").beginObject().member("role", job_.spec.elastic->role);
      out_.member("min", job_.spec.elastic->minReplicas).member("max", job_.spec.elastic->maxReplicas);
      out_.endObject();
    }
    if (!status_.progress) return;
    out_.key("progress").beginObject().member("step", status_.progress->step);
    if (status_.progress->totalSteps) out_.member("totalSteps", *status_.progress->totalSteps);
    if (status_.progress->milliSamplesPerSecond)
      out_.member("milliSamplesPerSecond", *status_.progress->milliSamplesPerSecond);
    out_.member("at", base::formatTime(status_.progress->at)).endObject();
  }

  void writeRoles() {
    out_.key("roles").beginArray();
    for (const model::Role& role : job_.spec.roles) {
      out_.beginObject().member("name", role.name).member("members", model::gangMembers(job_, role));
      out_.member("gpus", role.shape.requests.gpus());
      for (const model::RoleStatus& each : status_.roles) {
        if (each.name != role.name) continue;
        out_.member("active", each.active).member("ready", each.ready);
        out_.member("succeeded", each.succeeded).member("failed", each.failed);
      }
      out_.endObject();
    }
    out_.endArray();
  }

  void writePending() {
    if (!status_.pending || job_.finished()) return;
    const model::Pending& pending = *status_.pending;
    out_.key("pending").beginObject().member("reason", pending.reasonText());
    out_.member("message", clean(pending.message)).member("since", base::formatTime(pending.since));
    if (pending.nextRelaxation) out_.member("nextRelaxation", base::formatTime(*pending.nextRelaxation));
    if (pending.estimatedStart) out_.member("start", base::formatTime(*pending.estimatedStart));
    out_.key("blockedBy").beginArray();
    for (const model::Blocker& each : pending.blockedBy) {
      out_.beginObject().member("job", clean(fmt::format("{}", each.job)));
      out_.member("nodes", each.nodes).member("gpus", each.gpus);
      if (each.expectedEnd) out_.member("until", base::formatTime(*each.expectedEnd));
      out_.endObject();
    }
    out_.endArray().endObject();
  }

  void writeAssignedNodes() {
    out_.key("places").beginArray();
    if (status_.gang.placed) {
      for (const model::Assignment& each : status_.gang.placed->assignments) {
        out_.beginArray().string(each.node.str()).string(each.role);
        out_.integer(static_cast<std::int64_t>(each.indices.size())).endArray();
      }
    }
    out_.endArray();
    if (!status_.gang.proposal) return;
    const model::Proposal& proposal = *status_.gang.proposal;
    out_.key("change").beginObject().member("kind", codec::enumName(codec::kProposalKinds, proposal.kind));
    out_.member("phase", codec::enumName(codec::kProposalPhases, proposal.phase));
    out_.member("victims", static_cast<std::int64_t>(proposal.victims.size()));
    out_.member("why", clean(proposal.abortReason)).endObject();
  }

  void writeConditions() {
    out_.key("conditions").beginArray();
    for (const model::Condition& each : status_.conditions) {
      out_.beginObject().member("type", each.type).memberBool("true", isTrue(each));
      out_.member("reason", each.reason).member("message", clean(each.message));
      out_.member("since", base::formatTime(each.lastTransition)).endObject();
    }
    out_.endArray();
  }

  void writeHistory() {
    out_.member("gpuSeconds", status_.service.gpuSeconds).member("preemptions", status_.preemptions.count);
    if (const auto& by = status_.preemptions.by) out_.member("preemptedBy", clean(fmt::format("{}", *by)));
    out_.member("restarts", status_.restarts.counted);
    out_.member("fairShareDelay", status_.delays.fairShare.count());
    out_.member("fragmentationDelay", status_.delays.fragmentation.count());
    if (!status_.lastFailure) return;
    const model::LastFailure& last = *status_.lastFailure;
    out_.key("lastFailure").beginObject().member("class", model::toString(last.failure));
    out_.member("action", last.action).member("message", clean(last.message));
    out_.member("node", last.node.str()).member("pod", last.pod);
    out_.member("time", base::formatTime(last.time)).endObject();
  }

  static bool isTrue(const model::Condition& condition) {
    return condition.status == model::ConditionStatus::kTrue;
  }

  // True for conditions that only repeat other conditions for tools.
  static bool isSetByOthers(const model::Condition& condition) {
    return condition.type == model::conditions::kReady ||
           (condition.type == model::conditions::kStalled && condition.reason == "Failed");
  }

  void collect(std::string_view events) {
    moments_.push_back({base::formatTime(job_.created), "Created", ""});
    addEvents(events);
    for (const model::Condition& each : status_.conditions) {
      // A later entry shows when a condition became false, except for Admitted.
      if (!isTrue(each) && each.type != model::conditions::kAdmitted) continue;
      if (isSetByOthers(each)) continue;
      const bool reported = std::any_of(moments_.begin(), moments_.end(), [&](const Moment& moment) {
        return moment.what == each.reason && moment.why == each.message;
      });
      if (reported) continue;
      const std::string_view no = isTrue(each) ? "" : "not ";
      moments_.push_back({base::formatTime(each.lastTransition), fmt::format("{}{}", no, each.type),
                          each.message.empty() ? each.reason : each.message});
    }
    if (status_.preemptions.count > 0)
      moments_.push_back({base::formatTime(status_.preemptions.last), "Preempted",
                          fmt::format("preempted for {}, {} in all",
                                      status_.preemptions.by ? fmt::format("{}", *status_.preemptions.by)
                                                             : std::string("others"),
                                      model::counted(status_.preemptions.count, "time"))});
    if (status_.lastFailure)
      moments_.push_back(
          {base::formatTime(status_.lastFailure->time), "Failure", status_.lastFailure->message});
    addRelaxations();
    addExpected();
  }

  void addEvents(std::string_view events) {
    const auto document = codec::JsonDocument::parse(events);
    if (!document) return;
    const auto textOf = [](const codec::JsonValue& value) {
      return std::string(value.string().value_or(""));
    };
    document->root().find("items").forEachElement([&](const codec::JsonValue& each) {
      // An earlier job may have had the same name.
      if (textOf(each.find("involvedObject").find("uid")) != job_.uid.str()) return;
      std::string time = textOf(each.find("eventTime"));
      if (time.empty()) time = textOf(each.find("firstTimestamp"));
      const auto read = base::parseTime(time);
      if (!read || moments_.size() >= kMaxMoments) return;
      const std::int64_t count = each.find("series").find("count").integer().value_or(1);
      const std::string note = textOf(each.find("message"));
      moments_.push_back({base::formatTime(*read), textOf(each.find("reason")),
                          count > 1 ? fmt::format("{} ({} times)", note, count) : note});
    });
  }

  // For jobs with spec.locality.levels: when each level was given up. Other jobs relax by what the cluster
  // could give them, which only a search shows; nextRelaxation covers the end of their current level.
  void addRelaxations() {
    const model::Condition* queued = job_.condition(model::conditions::kQueued);
    if (job_.spec.locality.levels.empty() || queued == nullptr || !isTrue(*queued)) return;
    const auto steps = core::relaxationSteps({.locality = &job_.spec.locality,
                                              .gpus = model::desiredGpus(job_.spec),
                                              .estimatedDuration = job_.spec.estimatedDuration,
                                              .attainable = 0},
                                             facts_.snapshot.policy.relaxation, *facts_.domains);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const base::WallTime at = queued->lastTransition + steps[i].after;
      const std::string& level = facts_.domains->levels()[steps[i].widest].name;
      moments_.push_back({base::formatTime(at), "Relaxed",
                          level.empty() ? "any nodes are accepted from now on"
                                        : fmt::format("one {} is accepted from now on", level),
                          at > facts_.snapshot.now});
    }
  }

  void addExpected() {
    if (!status_.pending || job_.finished()) return;
    if (status_.pending->nextRelaxation && job_.spec.locality.levels.empty())
      moments_.push_back({base::formatTime(*status_.pending->nextRelaxation), "Relaxed",
                          "the next wider level is accepted", true});
    if (status_.pending->estimatedStart)
      moments_.push_back({base::formatTime(*status_.pending->estimatedStart), "Expected start",
                          "by the estimates of the jobs ahead", true});
  }

  void writeMoments() {
    std::stable_sort(moments_.begin(), moments_.end(),
                     [](const Moment& a, const Moment& b) { return a.time < b.time; });
    out_.key("timeline").beginArray();
    for (const Moment& each : moments_) {
      out_.beginObject().member("time", each.time).member("what", each.what).member("why", clean(each.why));
      if (each.ahead) out_.memberBool("ahead", true);
      out_.endObject();
    }
    out_.endArray();
  }

  const Facts& facts_;
  const Viewer& viewer_;
  const Job& job_;
  const model::JobStatus& status_;
  std::vector<Moment> moments_;
  JsonWriter out_;
};

std::string_view outcomeName(core::Forecast::Outcome outcome) {
  switch (outcome) {
    case core::Forecast::Outcome::kStarts: return "Starts";
    case core::Forecast::Outcome::kWaits: return "Waits";
    case core::Forecast::Outcome::kRefused: return "Refused";
    case core::Forecast::Outcome::kSuspended: return "Suspended";
    case core::Forecast::Outcome::kManagedByOther: return "LeftAlone";
  }
  return "Unknown";
}

bool within(int value, int least, int most) { return value >= least && value <= most; }

std::string manifestOf(const WhatIfJob& whatIfJob, base::WallTime now) {
  const std::string pod = fmt::format(
      R"({{"spec":{{"containers":[{{"name":"main","image":"none","resources":{{"limits":{{"{}":{}}}}}}}]}}}})",
      model::gpuResources().front(), whatIfJob.gpus);
  JsonWriter out;
  out.beginObject().member("apiVersion", model::names::kApiVersion);
  out.member("kind", model::names::kTrainingJobKind).key("metadata").beginObject();
  // The API server refuses such a name, so no job has it.
  out.member("name", "(what-if)").member("namespace", whatIfJob.ns).member("uid", "(what-if)");
  out.member("resourceVersion", "1").member("generation", 1);
  out.member("creationTimestamp", base::formatTime(now)).endObject().key("spec").beginObject();
  out.member("framework", "Custom").member("queue", whatIfJob.queue.empty() ? "default" : whatIfJob.queue);
  if (!whatIfJob.priority.empty()) out.member("priorityClassName", whatIfJob.priority);
  out.memberBool("preemptible", whatIfJob.preemptible).key("roles").beginArray().beginObject();
  out.member("name", "worker").member("replicas", whatIfJob.members).key("template").raw(pod);
  out.endObject().endArray();
  if (!whatIfJob.level.empty())
    out.key("locality").beginObject().member("required", whatIfJob.level).endObject();
  if (whatIfJob.hours > 0)
    out.key("estimate")
        .beginObject()
        .member("durationSeconds", std::int64_t{3600} * whatIfJob.hours)
        .endObject();
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace

std::string describeJobPage(const Facts& facts, const Viewer& viewer, const Job& job,
                            std::string_view events) {
  return Page(facts, viewer, job).write(events);
}

base::Result<std::shared_ptr<const Job>> jobOf(const WhatIfJob& whatIfJob, base::WallTime now) {
  const auto refuse = [](std::string_view field, int most) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("{}: must be a number up to {}", field, most));
  };
  if (whatIfJob.ns.empty()) return base::fail(base::ErrorCode::kInvalid, "namespace: is missing");
  if (!within(whatIfJob.members, 1, kMaxMembers)) return refuse("members", kMaxMembers);
  if (!within(whatIfJob.gpus, 1, kMaxGpus)) return refuse("gpus", kMaxGpus);
  if (!within(whatIfJob.hours, 0, kMaxHours)) return refuse("hours", kMaxHours);
  auto job = codec::decodeJob(manifestOf(whatIfJob, now));
  if (!job) return base::fail(job.error());
  if (!job->specError.empty()) return base::fail(base::ErrorCode::kInvalid, job->specError);
  return std::make_shared<const Job>(std::move(*job));
}

std::string describeForecast(const core::Forecast& forecast, const Viewer& viewer, const Names& namespaces) {
  const auto clean = [&](std::string_view text) { return withoutOthers(text, viewer, namespaces); };
  JsonWriter out;
  out.beginObject().member("outcome", outcomeName(forecast.outcome)).member("where", forecast.where);
  out.key("stops").beginArray();
  for (const core::Forecast::Stop& each : forecast.stops) {
    out.beginObject().member("job", clean(fmt::format("{}", each.job->key)));
    out.member("lostGpuSeconds", each.lostGpuSeconds).member("goesTo", each.goesTo).endObject();
  }
  out.endArray();
  if (forecast.pending) {
    out.member("reason", forecast.pending->reasonText()).member("message", clean(forecast.pending->message));
    out.member("ahead", static_cast<std::int64_t>(forecast.ahead));
    out.member("waiting", static_cast<std::int64_t>(forecast.waiting));
  }
  if (forecast.expected) {
    out.member("start", base::formatTime(forecast.expected->start))
        .member("startsAt", forecast.expected->where);
    out.key("after").beginArray();
    for (const auto& each : forecast.expected->after) out.string(clean(fmt::format("{}", each.job)));
    out.endArray();
  }
  out.endObject();
  return std::move(out).take();
}

}  // namespace trainyard::operator_::console
