#include "codec/launch_secret.h"
#include "codec/ssh_secret.h"
#include "net/random_token.h"
#include "net/ssh_key.h"
#include "operator/plan_executor.h"
#include "operator/plan_step.h"

// What the members of one job know each other by.
namespace trainyard::operator_ {

// Made anew each time, and thrown away where the job has some: to read them would take the right to read
// everybody's Secrets.
void PlanExecutor::ensureSshKeys(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  auto user = net::makeSshKey("trainyard");
  auto host = net::makeSshKey("trainyard");
  if (!user || !host) {
    deps_.log.error("no ssh keys could be made", {{"namespace", job.key.ns},
                                                  {"job", job.key.name},
                                                  {"error", (user ? host.error() : user.error()).message}});
    return partDone(step, false);
  }
  ensureOurs(step, kube::kSecrets,
             codec::encodeSshSecret(job, {user->privateKey, user->publicLine},
                                    {host->privateKey, host->publicLine}));
}

// Likewise.
void PlanExecutor::ensureLaunchToken(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  const auto token = net::makeRandomToken();
  if (!token) {
    deps_.log.error("no token could be made",
                    {{"namespace", job.key.ns}, {"job", job.key.name}, {"error", token.error().message}});
    return partDone(step, false);
  }
  ensureOurs(step, kube::kSecrets, codec::encodeLaunchSecret(job, *token));
}

}  // namespace trainyard::operator_
