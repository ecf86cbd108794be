#include <fmt/format.h>

#include "codec/resource_claims.h"
#include "codec/status.h"
#include "operator/plan_executor.h"
#include "operator/plan_executor_step.h"

// The part of the template check that no dry-run makes: the API server accepts pods with missing
// ResourceClaims, and kube-scheduler then never binds them.
namespace trainyard::operator_ {
namespace {

constexpr kube::ResourceType kResourceClaims{"resource.k8s.io", "v1", "resourceclaims"};
constexpr kube::ResourceType kResourceClaimTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates"};

// A server without this API also returns 404, with another message.
bool doesNotExist(const base::Error& error, const std::string& name) {
  return error.code == base::ErrorCode::kNotFound &&
         error.message.find(fmt::format("\"{}\" not found", name)) != std::string::npos;
}

}  // namespace

void PlanExecutor::checkClaims(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  for (const codec::ResourceClaimName& claim : codec::resourceClaimsOf(job)) {
    ++step->templates.open;
    const auto& type = claim.isTemplate ? kResourceClaimTemplates : kResourceClaims;
    deps_.api.get(type.object(job.key.ns, claim.name), guarded([this, step, claim](const Answer& answer) {
                    TemplateAnswers& answers = step->templates;
                    if (!answer && answers.refused.empty() && doesNotExist(answer.error(), claim.name)) {
                      answers.refused = fmt::format(
                          "spec.roles[{}].template: spec.resourceClaims: {} {} does not exist", claim.role,
                          claim.isTemplate ? "ResourceClaimTemplate" : "ResourceClaim", claim.name);
                    }
                    concludeTemplates(step);
                  }));
  }
}

}  // namespace trainyard::operator_
