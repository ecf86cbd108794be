#include "codec/launch_secret.h"
#include "codec/ssh_secret.h"
#include "net/random_token.h"
#include "net/ssh_key.h"
#include "operator/plan_executor.h"
#include "operator/plan_executor_step.h"

// Secrets by which the members of one job authenticate each other.
namespace trainyard::operator_ {

// Makes keys each time and discards them if the job has some: reading them would need the right to read all
// Secrets.
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

// Makes a token each time and discards it if the job has one: reading it would need access to all Secrets.
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
