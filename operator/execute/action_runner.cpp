#include "operator/execute/action_runner.h"

#include <utility>
#include <variant>

#include "core/ledger/members.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

// Bounds the bodies of pods to create, by their templates. Requests and sent data hold further copies.
constexpr std::size_t kMaxBodyBytes = std::size_t{16} << 20;

// Every placed member that has a pod in the cache.
std::vector<Witness> witnessesOf(const model::Job& job, const kube::ObjectCache<model::Pod>& pods) {
  std::vector<Witness> witnesses;
  if (!job.status.gang.placed) return witnesses;
  for (const model::Assignment& assignment : job.status.gang.placed->assignments) {
    for (const int index : assignment.indices.values()) {
      const model::ObjectKey key{job.key.ns, model::podName(job.key.name, assignment.role, index)};
      const auto pod = pods.find(key);
      if (!pod || pod->controllerUid != job.uid) continue;
      Witness& each = witnesses.emplace_back(Witness{key, assignment.role, index});
      each.ended = core::endOf(*pod, job.spec.findRole(assignment.role)) != core::MemberEnd::kNone;
      if (pod->exit) each.endedAt = pod->exit->finishedAt;
      if (pod->failure && !pod->failure->containers.empty())
        each.container = pod->failure->containers.front().name;
    }
  }
  return witnesses;
}

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

ActionRunner::ActionRunner(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps,
                           TemplateChecks& checks, SingleRecords& singles)
    : deps_(dependencies),
      steps_(steps),
      bodies_(kMaxBodyBytes),
      evidence_(dependencies.api, dependencies.executor, dependencies.offload),
      templateCheck_(deps_, steps_, bodies_, checks, preflight_),
      finalizers_(deps_, steps_),
      auxiliaries_(deps_, steps_, preflight_),
      deleter_(deps_, steps_),
      members_(deps_, steps_, bodies_, singles, preflight_, auxiliaries_, deleter_),
      notices_(deps_, steps_),
      owned_(deps_, steps_) {}

void ActionRunner::run(const StepPtr& step, const core::Action& action) {
  std::visit(Overloaded{[&](const core::CheckTemplates&) { templateCheck_.run(step); },
                        [&](const core::AddFinalizer&) { finalizers_.run(step, true); },
                        [&](const core::RemoveFinalizer&) { finalizers_.run(step, false); },
                        [&](const core::EnsureAuxiliaries&) { auxiliaries_.run(step); },
                        [&](const core::CreateMember& member) { members_.create(step, member); },
                        [&](const core::ReleaseMember& member) { members_.release(step, member); },
                        [&](const core::GivePlace& place) { owned_.givePlace(step, place); },
                        [&](const core::SuspendOwner& owner) { owned_.suspend(step, owner); },
                        [&](const core::NotifyMember& member) { notices_.run(step, member); },
                        [&](const core::DeletePod& pod) {
                          deleter_.remove(pod, [this, step](bool good) { steps_.partDone(step, good); });
                        },
                        [&](const core::CollectEvidence&) { collectEvidence(step); },
                        [&](const core::DeleteJob&) { deleteJob(step); }},
             action);
}

void ActionRunner::collectEvidence(const StepPtr& step) {
  evidence_.collect(witnessesOf(*step->decision.job, deps_.cache.pods),
                    steps_.guarded([this, step](core::Failure failure) {
                      const model::Job& job = *step->decision.job;
                      deps_.log.info("a gang failed", {{"namespace", job.key.ns},
                                                       {"job", job.key.name},
                                                       {"class", model::toString(failure.failure)},
                                                       {"pod", failure.pod},
                                                       {"message", failure.message}});
                      JobState& state = steps_.of(job.key);
                      state.failedEpoch = job.status.gang.lastEpoch;
                      state.failure = std::move(failure);
                      steps_.partDone(step, true);
                    }));
}

// The finalizer keeps the job until its pods are gone.
void ActionRunner::deleteJob(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  kube::DeleteOptions options;
  options.uid = job.uid.str();
  options.propagationPolicy = "Background";
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.remove(kube::kTrainingJobs.object(job.key.ns, job.key.name), options,
                   steps_.guarded([this, step](const Answer& answer) {
                     const model::Job& gone = *step->decision.job;
                     const bool absent = !answer && answer.error().code == ErrorCode::kNotFound;
                     if (absent) deps_.cache.jobs.forget(gone.key, gone.uid.str());
                     // Another job has the name by now. The watch will deliver it.
                     const bool other = !answer && answer.error().code == ErrorCode::kConflict;
                     steps_.partDone(step, answer.has_value() || absent || other);
                   }));
}

}  // namespace trainyard::operator_
