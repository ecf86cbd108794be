#include "operator/execute/template_check.h"

#include <utility>

#include <fmt/format.h>

#include "codec/member_pod.h"
#include "codec/pod.h"
#include "codec/status.h"
#include "model/gang_size.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

}  // namespace

void TemplateCheck::run(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  if (!checks_.ask(job)) return steps_.partDone(step, true);
  // One more than the dry-runs, so that immediate answers cannot conclude the check before all are sent.
  step->templates.open = job.spec.roles.size() + 1;
  for (const model::Role& role : job.spec.roles) {
    const std::size_t bytes = bodyBytes(role, step->environments());
    bodies_.enter(step->decision.job->key.ns, bytes,
                  [this, step, &role, bytes] { checkTemplate(step, role, bytes); });
  }
  concludeTemplates(step);
}

void TemplateCheck::checkTemplate(const StepPtr& step, const model::Role& role, std::size_t bytes) {
  const model::Job& job = *step->decision.job;
  // The first member may declare ports that the others do not.
  const int typical = model::gangMembers(job, role) > 1 ? 1 : 0;
  const auto body = codec::encodeMemberPod(job, role, typical,
                                           {.epoch = 0,
                                            .gated = true,
                                            .schedulerName = deps_.schedulerName,
                                            .environment = step->environments().of(role.name, typical, 0),
                                            .preflight = preflight_.of(job),
                                            .launcherImage = deps_.launcherImage});
  if (!body) {
    if (step->templates.unusable.empty())
      step->templates.unusable = templateComplaint(role.name, body.error());
    bodies_.leave(bytes);
    return concludeTemplates(step);
  }
  deps_.metrics.countWrite("pods?dryRun");
  deps_.api.create(kube::kPods.collection(job.key.ns), *body,
                   steps_.guarded([this, step, bytes, name = role.name](const Answer& answer) {
                     bodies_.leave(bytes);
                     templateAnswered(step, name, answer);
                   }),
                   {{"dryRun", "All"}, {"fieldValidation", "Strict"}});
}

void TemplateCheck::templateAnswered(const StepPtr& step, const std::string& role, const Answer& answer) {
  TemplateAnswers& answers = step->templates;
  if (answer) {
    const auto pod = codec::decodePodToSchedule(answer->body);
    const model::Role* asWritten = step->decision.job->spec.findRole(role);
    if (pod && asWritten != nullptr && !equalForPlacement(pod->shape, asWritten->shape))
      answers.shapes.emplace(role, pod->shape);
    return concludeTemplates(step);
  }
  switch (answer.error().code) {
    // The API server checks the name after validation: AlreadyExists means that the template is valid.
    case ErrorCode::kAlreadyExists: break;
    // Both may be transient: validation sees what LimitRanges, webhooks and policies made of the template.
    case ErrorCode::kInvalid:
    case ErrorCode::kForbidden:
      if (answers.refused.empty()) answers.refused = templateComplaint(role, answer.error());
      break;
    default: answers.unclear = true; break;
  }
  concludeTemplates(step);
}

void TemplateCheck::concludeTemplates(const StepPtr& step) {
  TemplateAnswers& answers = step->templates;
  if (--answers.open > 0) return;
  const model::Job& job = *step->decision.job;
  if (!answers.unusable.empty()) {
    checks_.failed(job, answers.unusable);
  } else if (!answers.refused.empty()) {
    checks_.failedForNow(job, answers.refused, deps_.executor.now());
  } else if (answers.unclear) {
    checks_.unanswered(job);
  } else {
    checks_.passed(job, std::move(answers.shapes));
  }
  steps_.partDone(step, !answers.unclear);
}

}  // namespace trainyard::operator_
