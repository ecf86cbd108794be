#include "cli/convert/batch_job.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/scratch.h"

namespace trainyard::cli {
namespace {

constexpr int kJobRetries = 6;  // backoffLimit without a number

}  // namespace

Json BatchJobs::sizeOf(const Json& spec) {
  const Json parallelism = get(spec, "parallelism");
  const Json completions = get(spec, "completions");
  if (parallelism.is_null()) return Json(1);
  if (parallelism.is_number_integer() && completions.is_number_integer())
    return Json(std::min(countOf(parallelism), countOf(completions)));
  return parallelism;
}

RoleDraft* BatchJobs::add(const std::string& role, const Json& spec, const std::string& origin,
                          const std::string& former) {
  RoleDraft* added = draft_.roles().add(role, sizeOf(spec), get(spec, "template"));
  if (added == nullptr) return nullptr;
  added->variables.emplace_back("JOB_COMPLETION_INDEX", "$(TRAINYARD_INDEX)");
  added->overwritten.insert("JOB_COMPLETION_INDEX");
  added->formerPrefix = former;
  if (textOf(get(added->pod, "spec", "restartPolicy")) == "OnFailure") noteScratch(*added, draft_);
  const Json completions = get(spec, "completions");
  if (!completions.is_null() && completions != sizeOf(spec) && countOf(completions) > countOf(sizeOf(spec)))
    draft_.notes().cannotWork(
        fmt::format("{}: completions {}: only {} members run, each once: raise replicas, or keep the Job",
                    origin, valueText(completions), valueText(sizeOf(spec))));
  const Json limit = get(spec, "backoffLimit");
  retries_.push_back(limit.is_null() ? kJobRetries : countOf(limit));
  return added;
}

void BatchJobs::note(const Json& spec, const std::string& origin) {
  ConversionNotes& notes = draft_.notes();
  notes.noteUnknown(spec, "job.spec", origin);
  if (!get(spec, "podFailurePolicy").is_null())
    notes.lost(fmt::format("{}.podFailurePolicy: not carried over; write spec.failure.rules", origin));
  if (!get(spec, "successPolicy").is_null())
    notes.lost(fmt::format("{}.successPolicy: not carried over; see spec.success", origin));
  for (const char* key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (!get(spec, key).is_null())
      notes.lost(
          fmt::format("{}.{}: not carried over: a member that fails for good fails the job", origin, key));
  }
  const std::string manager = textOf(get(spec, "managedBy"));
  if (!manager.empty() && manager != "kubernetes.io/job-controller")
    notes.lost(fmt::format("{}.managedBy {}: not carried over; see spec.managedBy", origin, manager));
  for (const char* key : {"activeDeadlineSeconds", "ttlSecondsAfterFinished"}) {
    if (Json value = get(spec, key); !value.is_null()) draft_.set("run", key, std::move(value));
  }
}

void BatchJobs::writeFailures(std::int64_t recreations) {
  const std::int64_t most = retries_.empty() ? 0 : *std::max_element(retries_.begin(), retries_.end());
  const bool differ =
      std::any_of(retries_.begin(), retries_.end(), [&](std::int64_t each) { return each != most; });
  const std::int64_t restarts = (most + 1) * (recreations + 1) - 1;
  for (const RoleDraft& role : draft_.roles())
    draft_.failures().role(role.name, restarts == 0 ? OnFailure::kEnd : OnFailure::kRestart);
  if (restarts == 0)
    return draft_.notes().kept(
        "backoffLimit 0: a failure ends the job (spec.failure); preemption and lost nodes "
        "are not failures");
  draft_.failures().limit(std::min<std::int64_t>(restarts, kMaxRestarts));
  if (recreations == 0) draft_.failures().memberOnly();
  const char* who = recreations == 0 ? "the failed member alone starts" : "the whole gang starts";
  draft_.notes().kept(
      fmt::format("backoffLimit: spec.failure counts every failure, whatever its class, and {} again", who));
  if (recreations > 0 && most > 0)
    draft_.notes().changed(fmt::format(
        "failurePolicy.maxRestarts {} and backoffLimit {} are one count, spec.failure.maxRestarts, "
        "and each restarts the whole gang",
        recreations, most));
  if (recreations == 0 && retries_.size() > 1 && most > 0)
    draft_.notes().changed(fmt::format(
        "backoffLimit: {} restarts are those of the whole job, where each Job has its own", most));
  if (differ)
    draft_.notes().changed(fmt::format("backoffLimit: the largest, {}, counts for all roles", most));
}

void moveDomain(const std::string& former, JobDraft& draft) {
  if (former.empty() || draft.name().empty() || former == draft.name()) return;
  const re2::RE2 expression(fmt::format(R"(({}-[-a-z0-9]*(?:\d|[)}}]))\.{}\b)",
                                        re2::RE2::QuoteMeta(draft.name()), re2::RE2::QuoteMeta(former)));
  const std::string now = fmt::format(R"(\1.{})", draft.name());
  bool found = false;
  for (RoleDraft& role : draft.roles())
    forEachText(role.pod, [&](std::string& text) {
      found = re2::RE2::GlobalReplace(&text, expression, now) > 0 || found;
    });
  if (found)
    draft.notes().kept(
        fmt::format("members are in domain {}, not {}: texts of the templates that name one are "
                    "rewritten",
                    draft.name(), former));
}

}  // namespace trainyard::cli
