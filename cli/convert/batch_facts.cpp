#include <array>

#include "cli/convert/pod_paths.h"
#include "cli/convert/system_facts.h"

namespace trainyard::cli {
namespace {

using enum Severity;

// --- a Job of Kubernetes, by itself or in a JobSet

constexpr std::array kBatchFields{
    Fact{"job.spec.template", kKept, "`roles[].template`"},
    Fact{"job.spec.parallelism", kKept, "`roles[].replicas`"},
    Fact{"job.spec.completions", kKept, "nothing if it is `parallelism`; otherwise *cannot work*"},
    Fact{"job.spec.completionMode", kKept, "nothing: members have an index"},
    Fact{"job.spec.backoffLimit", kKept,
         "`failure.maxRestarts`, 6 without it: the failed member alone starts again; *changed* for several "
         "Jobs, "
         "which share one count"},
    Fact{"job.spec.activeDeadlineSeconds", kKept, "`run.activeDeadlineSeconds`"},
    Fact{"job.spec.ttlSecondsAfterFinished", kKept, "`run.ttlSecondsAfterFinished`"},
    Fact{"job.spec.suspend", kKept, "`run.suspend`; *changed* with Kueue's label: left out"},
    Fact{"job.spec.podReplacementPolicy", kKept, "nothing: a member starts again after it has ended"},
    Fact{"job.spec.selector", kKept, "nothing: the operator finds members by its own labels"},
    Fact{"job.spec.manualSelector", kKept, "nothing"},
    Fact{"job.spec.podFailurePolicy", kLost, "nothing: write `failure.rules`"},
    Fact{"job.spec.successPolicy", kLost, "nothing: write `success`"},
    Fact{"job.spec.backoffLimitPerIndex", kLost, "nothing: restarts count for the whole job"},
    Fact{"job.spec.maxFailedIndexes", kLost, "nothing: a member that fails for good fails the job"},
    Fact{"job.spec.managedBy", kLost, "nothing, unless it is Kubernetes' own controller"},
};

constexpr std::array kBatchBehaviours{
    Fact{"`JOB_COMPLETION_INDEX`", kKept, "the variable, by `TRAINYARD_INDEX`"},
    Fact{"label and annotation `batch.kubernetes.io/job-completion-index`", kKept,
         "a `fieldRef` reads `trainyard.dev/index`"},
    Fact{"success: that of all pods", kKept, "`success.roles` with all roles"},
    Fact{"a Service of the pods' `subdomain`", kKept,
         "members have names in any case: texts that name one are rewritten"},
};

constexpr FamilyFacts kBatch{"Job of `batch`, indexed, or in a JobSet", kBatchFields, kBatchBehaviours};

constexpr std::array<Fact, 0> kNoJobFields{};
constexpr std::array<VariableFact, 0> kSetElsewhere{};

constexpr std::array kJobBehaviours{
    Fact{"members are called `JOB-N`", kKept, "`JOB-worker-N`: the template's texts are rewritten"},
    Fact{"a Job without indices", kKept, "the Job, unchanged: its pods need not start together"},
};

constexpr std::array kJobLabels{
    LabelFact{"batch.kubernetes.io/job-completion-index", "", pod_paths::kIndex},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", pod_paths::kIndex, false},
    LabelFact{"batch.kubernetes.io/job-name", "", pod_paths::kJob},
    LabelFact{"batch.kubernetes.io/controller-uid", "", pod_paths::kJobUid},
    LabelFact{"job-name", "", pod_paths::kJob},
    LabelFact{"controller-uid", "", pod_paths::kJobUid},
};

// --- JobSet

constexpr std::array kJobSetFields{
    Fact{"spec.replicatedJobs[].name", kKept, "`roles[].name`: letters and digits, at most 16"},
    Fact{"spec.replicatedJobs[].replicas", kKept,
         "a role for each Job; one role if each Job has one pod. *Cannot work* if these are more than 8 "
         "roles"},
    Fact{"spec.replicatedJobs[].groupName", kKept, "nothing"},
    Fact{"spec.replicatedJobs[].template.metadata", kKept, "nothing: it is the Job's"},
    Fact{"spec.replicatedJobs[].template.spec", kKept, "as a Job: above"},
    Fact{"spec.replicatedJobs[].dependsOn", kChanged,
         "all roles start together; *cannot work* if another Job has to be complete first"},
    Fact{"spec.network", kKept, "nothing: members always have names; another `subdomain` is rewritten"},
    Fact{"spec.successPolicy", kKept,
         "`success.operator` and `success.roles`; *changed* for Any of larger Jobs"},
    Fact{"spec.failurePolicy.maxRestarts", kKept,
         "`failure.maxRestarts`; *changed* if Jobs have a `backoffLimit`, too: one count"},
    Fact{"spec.failurePolicy.restartStrategy", kKept, "nothing: the gang starts again as a whole"},
    Fact{"spec.failurePolicy.rules", kLost, "nothing: write `failure.rules`"},
    Fact{"spec.startupPolicy", kKept, "nothing; *changed* with InOrder: all roles start together"},
    Fact{"spec.suspend", kKept, "`run.suspend`; *changed* with Kueue's label: left out"},
    Fact{"spec.coordinator", kKept, "nothing; a `fieldRef` of its label *cannot work*"},
    Fact{"spec.managedBy", kLost, "nothing, unless it is JobSet's own controller"},
    Fact{"spec.ttlSecondsAfterFinished", kKept, "`run.ttlSecondsAfterFinished`"},
    Fact{"spec.volumeClaimPolicies", kCannotWork, "nothing: make the claims, and name them in the templates"},
};

constexpr std::array kJobSetBehaviours{
    Fact{"members are called `JOBSET-NAME-J-N`", kKept,
         "`JOBSET-ROLE-N`: the template's texts are rewritten"},
    Fact{"labels and annotations `jobset.sigs.k8s.io/*` of pods", kKept,
         "a `fieldRef` reads the field of that value; of others it *cannot work*"},
    Fact{"annotation `alpha.jobset.sigs.k8s.io/exclusive-topology`", kLost,
         "nothing: name a level in `locality`"},
};

constexpr std::array kJobSetLabels{
    LabelFact{"jobset.sigs.k8s.io/jobset-name", "", pod_paths::kJob},
    LabelFact{"jobset.sigs.k8s.io/jobset-name", "", pod_paths::kJob, false},
    LabelFact{"jobset.sigs.k8s.io/replicatedjob-name", "{task}", pod_paths::kRole, true, "", true},
    LabelFact{"jobset.sigs.k8s.io/jobset-uid", "", pod_paths::kJobUid},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", pod_paths::kIndex},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", pod_paths::kIndex, false},
};

constexpr SystemFacts kIndexedJob{"Job",          "batch",    "Kubernetes",  kNoJobFields,
                                  kJobBehaviours, kJobLabels, kSetElsewhere, &kBatch};
constexpr SystemFacts kJobSet{"JobSet",          "jobset.x-k8s.io", "JobSet",      kJobSetFields,
                              kJobSetBehaviours, kJobSetLabels,     kSetElsewhere, &kBatch};

}  // namespace

std::vector<const SystemFacts*> batchFacts() { return {&kIndexedJob, &kJobSet}; }

}  // namespace trainyard::cli
