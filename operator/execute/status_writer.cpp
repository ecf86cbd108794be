#include "operator/execute/status_writer.h"

#include <chrono>
#include <utility>

#include "codec/job_status.h"
#include "codec/status.h"
#include "codec/stripping.h"
#include "kube/job_path.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

// Far above the jobs of one cluster. Reaching it costs at most one repeated write per job.
constexpr std::size_t kMaxHashes = 50'000;

bool holdsNodes(const model::Job& job) { return job.status.gang.placed || job.status.gang.proposal; }

}  // namespace

void StatusWriter::write(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  // The decision may rest on an unwritten record: the patch starts from the status that the server has.
  const auto read = deps_.cache.jobs.find(job.key);
  if (read && read->uid == job.uid && read->resourceVersion == job.resourceVersion) step->asRead = read;
  const auto patch = codec::encodeStatusPatch(step->asRead ? *step->asRead : job, *step->decision.status);
  if (!patch) return runActions_(step);
  step->path = kube::jobPath(job);
  step->statusHash =
      std::hash<std::string_view>{}(std::string_view(*patch).substr(patch->find("\"status\"")));
  steps_.of(job.key).write(step->decision.status->gang);
  deps_.metrics.countWrite("trainingjobs/status");
  deps_.api.patch(kube::PatchType::kMerge, step->path + "/status", *patch,
                  steps_.guarded([this, step](const Answer& answer) { statusWritten(step, answer); }));
}

void StatusWriter::statusWritten(const StepPtr& step, const Answer& answer) {
  const model::Job& job = *step->decision.job;
  if (answer) {
    deps_.cache.jobs.applyWrite(answer->body);
    steps_.of(job.key).writing.reset();
    deferredWrites_.written(job.key);
    step->good = tookEffect(*step);
    const auto& proposal = step->decision.status->gang.proposal;
    if (proposal && proposal->phase == model::ProposalPhase::kAborting) checks_.forget(job);
    recordEvents(*step);
    deps_.metrics.noteTransition(job, *step->decision.status, deps_.executor.wallNow());
    return runActions_(step);
  }
  if (codec::isTooLargeError(answer.error()) && holdsNodes(job))
    return step->shrunk ? deleteTooLarge(step) : shrink(step);
  step->decision.actions.clear();
  switch (answer.error().code) {
    case ErrorCode::kConflict: return reread(step, Reread::kAfterConflict);
    case ErrorCode::kOutcomeUnknown: return reread(step, Reread::kOutcomeUnknown);
    case ErrorCode::kNotFound:
      deps_.cache.jobs.forget(job.key, job.uid.str());
      steps_.of(job.key).writing.reset();
      return steps_.finish(step);
    default:
      deps_.log.warning("status could not be written", {{"namespace", job.key.ns},
                                                        {"job", job.key.name},
                                                        {"code", base::toString(answer.error().code)},
                                                        {"error", answer.error().message}});
      steps_.of(job.key).writing.reset();
      step->good = false;
      return steps_.finish(step);
  }
}

// True if the next cycle will see the write. If the server's answer cannot be decoded, or an older
// schema drops fields, each cycle would write the same status again, for ever. Such a job backs off
// instead.
bool StatusWriter::tookEffect(const Step& step) {
  const model::Job& job = *step.decision.job;
  if (lastHash_.size() >= kMaxHashes) lastHash_.clear();
  const bool repeated = std::exchange(lastHash_[job.uid], step.statusHash) == step.statusHash;
  const auto now = deps_.cache.jobs.find(job.key);
  const bool seen = !now || now->uid != job.uid || now->resourceVersion != job.resourceVersion;
  return seen && !repeated;
}

void StatusWriter::recordEvents(const Step& step) {
  const model::Job& job = *step.decision.job;
  for (const core::JobEvent& event : step.decision.events) {
    deps_.events.record(job, event);
    deps_.log.info(event.reason, {{"namespace", job.key.ns}, {"job", job.key.name}, {"note", event.note}});
  }
}

// The record of a gang that holds nodes must be written, or the gang could not be preempted. Its owner may
// have filled the object up to the API server's limit. Removes the metadata that the owner may add at any
// time and that does not decide whether the gang may run.
void StatusWriter::shrink(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  deps_.log.warning("too large to be written: its labels, annotations and foreign finalizers are removed",
                    {{"namespace", job.key.ns}, {"job", job.key.name}});
  deps_.events.record(job, {true, "TooLargeToWrite",
                            "the job was too large to be written: its labels, annotations, owners and "
                            "foreign finalizers were removed"});
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.patch(kube::PatchType::kMerge, step->path, codec::encodeStrippingPatch(job),
                  steps_.guarded([this, step](const Answer& answer) {
                    step->shrunk = answer.has_value();
                    reread(step, Reread::kAfterConflict);
                  }));
}

// The spec fills the object. Nothing else can be removed from it, and a job without a record must hold
// nothing. A deletion without finalizers writes nothing. (Rejected: to preempt it without a record. Each
// decision would have to ask which records are true.)
void StatusWriter::deleteTooLarge(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  deps_.log.warning("too large to be written, although its metadata was removed: it is deleted",
                    {{"namespace", job.key.ns}, {"job", job.key.name}});
  deps_.events.record(job,
                      {true, "TooLargeToWrite",
                       "the job was too large to be written, although its labels, annotations and foreign "
                       "finalizers were removed: it was deleted"});
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.patch(kube::PatchType::kMerge, step->path, codec::encodeFinalizersPatch(job),
                  steps_.guarded([this, step](const Answer&) {
                    kube::DeleteOptions options;
                    options.uid = step->decision.job->uid.str();
                    options.propagationPolicy = "Background";
                    deps_.metrics.countWrite("trainingjobs");
                    deps_.api.remove(step->path, options, steps_.guarded([this, step](const Answer&) {
                      reread(step, Reread::kOutcomeUnknown);
                    }));
                  }));
}

// After a conflict or an unknown outcome, only a read shows what the record is now.
void StatusWriter::reread(const StepPtr& step, Reread why) {
  deps_.api.get(step->path, steps_.guarded([this, step, why](const Answer& answer) {
    const model::Job& job = *step->decision.job;
    if (!answer && answer.error().code != ErrorCode::kNotFound) {
      return steps_.later(std::chrono::seconds(1), [this, step, why] { reread(step, why); });
    }
    if (answer) {
      deps_.cache.jobs.applyWrite(answer->body);
    } else {
      deps_.cache.jobs.forget(job.key, job.uid.str());
    }
    if (why == Reread::kAfterConflict && writeAgain(step)) return;
    // An unchanged object gives the next attempt no better chance, so the job backs off.
    const auto now = deps_.cache.jobs.find(job.key);
    const bool same = now && now->resourceVersion == job.resourceVersion;
    if (same && step->shrunk && why == Reread::kAfterConflict) return deleteTooLarge(step);
    if (same || why == Reread::kAfterConflict) step->good = false;
    steps_.of(job.key).writing.reset();
    steps_.finish(step);
  }));
}

// A client that edits a label all the time must not starve the job. If nothing that the decision rests on has
// changed, the status is written again at once. Waiting for the next cycle widens the gap between read and
// write to a cycle's rest, in which such a client always comes first. No edit of the spec changes what holds
// a placed gang's capacity, so there the decision stands.
bool StatusWriter::writeAgain(const StepPtr& step) {
  const model::Job& decidedOn = step->asRead ? *step->asRead : *step->decision.job;
  const auto now = deps_.cache.jobs.find(decidedOn.key);
  if (!now || now->resourceVersion == decidedOn.resourceVersion) return false;
  const bool sameSpec = now->generation == decidedOn.generation || decidedOn.status.gang.placed.has_value();
  const bool asDecidedOn = now->uid == decidedOn.uid && sameSpec && now->deleting == decidedOn.deleting &&
                           now->hasReleaseFinalizer == decidedOn.hasReleaseFinalizer &&
                           now->status == decidedOn.status;
  if (!asDecidedOn || ++step->conflicts > kMaxConflicts) return false;
  step->decision.job = now;
  write(step);
  return true;
}

}  // namespace trainyard::operator_
