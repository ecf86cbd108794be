#include "cli/convert/system_facts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/convert/pod_paths.h"

namespace trainyard::cli {
namespace {

using enum Severity;

// --- Kubeflow's TrainJob

constexpr std::array kTrainFields{
    Fact{"spec.runtimeRef", kKept,
         "`framework`, by the runtime in the file or Kubeflow's own names; another one *cannot work*"},
    Fact{"spec.trainer.image", kKept, "the container's image; without it and the runtime *cannot work*"},
    Fact{"spec.trainer.command", kKept, "the container's command; with MPI that of role `launcher`"},
    Fact{"spec.trainer.args", kKept, "as `command`"},
    Fact{"spec.trainer.env", kKept, "the container's env"},
    Fact{"spec.trainer.numNodes", kKept,
         "`roles[].replicas`, else the runtime's; a placeholder stays and is named"},
    Fact{"spec.trainer.resourcesPerNode", kKept, "the container's resources"},
    Fact{"spec.trainer.numProcPerNode", kKept,
         "variable `PET_NPROC_PER_NODE` (`auto` without GPUs: the number of CPUs); with MPI the host file's "
         "slots, *changed* if a node has another number of GPUs"},
    Fact{"spec.suspend", kKept, "`run.suspend`; *changed* with Kueue's label: left out"},
    Fact{"spec.activeDeadlineSeconds", kKept, "`run.activeDeadlineSeconds`"},
    Fact{"spec.labels", kKept, "labels of the job"},
    Fact{"spec.annotations", kKept, "annotations of the job"},
    Fact{"spec.podTemplateOverrides", kKept, "the trainer's are merged into the template; others are *lost*"},
    Fact{"spec.podSpecOverrides", kKept, "as `podTemplateOverrides`"},
    Fact{"spec.runtimePatches", kKept, "as `podTemplateOverrides`"},
    Fact{"spec.initializer", kCannotWork,
         "nothing: load data and model in an init container, or from a volume"},
    Fact{"spec.managedBy", kKept, "nothing for Kubeflow's controller; otherwise *lost*"},
    // Fields of the ClusterTrainingRuntime or TrainingRuntime.
    Fact{"runtime.spec.mlPolicy.numNodes", kKept, "`roles[].replicas`, unless the TrainJob has its own"},
    Fact{"runtime.spec.mlPolicy.torch.numProcPerNode", kKept, "as `spec.trainer.numProcPerNode`"},
    Fact{"runtime.spec.mlPolicy.torch.elasticPolicy", kLost, "nothing: write `elastic`"},
    Fact{"runtime.spec.mlPolicy.mpi.numProcPerNode", kKept, "as `spec.trainer.numProcPerNode`"},
    Fact{"runtime.spec.mlPolicy.mpi.mpiImplementation", kKept,
         "the host file that replaces `/etc/mpi/hostfile`"},
    Fact{"runtime.spec.mlPolicy.mpi.sshAuthMountPath", kKept,
         "nothing: the operator gives the keys; a program that reads `.ssh` *cannot work*"},
    Fact{"runtime.spec.mlPolicy.mpi.runLauncherAsNode", kKept,
         "a role `launcher` without GPUs runs the command beside `numNodes` workers"},
    Fact{"runtime.spec.mlPolicy.jax", kKept, "`framework: JAX`"},
    Fact{"runtime.spec.mlPolicy.xgboost", kKept, "variables `DMLC_*`"},
    Fact{"runtime.spec.podGroupPolicy.coscheduling", kKept, "nothing: a gang starts as a whole"},
    Fact{"runtime.spec.podGroupPolicy.volcano.networkTopology", kLost, "nothing: name a level in `locality`"},
    Fact{"runtime.spec.template.metadata", kKept, "nothing: no JobSet is created"},
    Fact{"runtime.spec.template.spec.network", kKept, "nothing: members always have names"},
    Fact{"runtime.spec.template.spec.suspend", kKept, "nothing: the TrainJob's counts"},
    Fact{"runtime.spec.template.spec.successPolicy", kKept,
         "the default, success of the trainer; otherwise *lost*"},
    Fact{"runtime.spec.template.spec.startupPolicy", kKept,
         "nothing; *changed* with InOrder: all roles start together"},
    Fact{"runtime.spec.template.spec.failurePolicy.maxRestarts", kChanged,
         "`failure.maxRestarts`: each restart has the Job's retries"},
    Fact{"runtime.spec.template.spec.ttlSecondsAfterFinished", kChanged,
         "`run.ttlSecondsAfterFinished` deletes the TrainingJob"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].name", kKept,
         "`node`: role `worker`; with MPI `launcher`: role `launcher`; others *cannot work*"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].replicas", kKept, "nothing: Kubeflow has one of each"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].groupName", kKept, "nothing"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].dependsOn", kKept,
         "nothing; *changed* between node and launcher: all roles start together"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.metadata", kKept, "nothing: it is the Job's"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.template", kKept, "`roles[].template`"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.backoffLimit", kKept,
         "`failure.maxRestarts`, 6 without it"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.activeDeadlineSeconds", kKept,
         "`run.activeDeadlineSeconds`, unless the TrainJob has its own"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.podFailurePolicy", kLost,
         "nothing: write `failure.rules`"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.parallelism", kKept,
         "nothing: the number of nodes counts"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.completions", kKept,
         "nothing: the number of nodes counts"},
    Fact{"runtime.spec.template.spec.replicatedJobs[].template.spec.completionMode", kKept,
         "nothing: members have an index"},
};

constexpr std::array kTrainBehaviours{
    Fact{"the runtime's template, number of nodes and `mlPolicy`", kKept,
         "read from the runtime of that name in the files"},
    Fact{"what a runtime outside of the files adds (volumes, init containers, commands)", kChanged,
         "nothing: give the runtime with `-f`"},
    Fact{"a pod that fails is replaced, `backoffLimit` 6 times", kKept,
         "`failure.rules` and `failure.maxRestarts`"},
    Fact{"members are called `JOB-node-0-N`", kKept,
         "`JOB-worker-N`: the template's texts are rewritten; a ConfigMap that names one *cannot work*"},
    Fact{"`JOB_COMPLETION_INDEX`", kKept, "the variable, by `TRAINYARD_INDEX`"},
    Fact{"`DMLC_*` of XGBoost's runtime", kKept, "the variables"},
    Fact{"MPI: the first node runs the command", kKept,
         "a role `launcher` without GPUs runs it, by the runtime's launcher template; workers serve ssh"},
    Fact{"MPI: `/etc/mpi/hostfile`", kKept,
         "`/etc/trainyard/mpi/hostfile`: the template's texts are rewritten"},
    Fact{"MPI: the template's ssh settings, such as `plm_rsh_args`", kCannotWork,
         "nothing: they replace the operator's"},
    Fact{"a template's variable that Kubeflow sets, such as `PET_NNODES`", kKept,
         "left out: Kubeflow's counts"},
    Fact{"annotations for a scheduler, such as `scheduling.volcano.sh/queue-name`", kKept,
         "`queue`; others are *lost*"},
};

constexpr std::array kTrainLabels{
    LabelFact{"jobset.sigs.k8s.io/jobset-name", "", pod_paths::kJob},
    LabelFact{"jobset.sigs.k8s.io/replicatedjob-name", "{task}", pod_paths::kRole, true, "", true},
    LabelFact{"jobset.sigs.k8s.io/jobset-uid", "", pod_paths::kJobUid},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", pod_paths::kIndex},
    LabelFact{"batch.kubernetes.io/job-name", "", pod_paths::kJob},
    LabelFact{"jobset.sigs.k8s.io/jobset-name", "", pod_paths::kJob, false},
    LabelFact{"jobset.sigs.k8s.io/replicatedjob-name", "{task}", pod_paths::kRole, false},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", pod_paths::kIndex, false},
};

constexpr std::array kTrainVariables{VariableFact{"JOB_COMPLETION_INDEX", "$(TRAINYARD_INDEX)"}};

// --- Volcano's Job

constexpr std::array kVolcanoFields{
    Fact{"spec.tasks[].name", kKept, "`roles[].name`: letters and digits, at most 16"},
    Fact{"spec.tasks[].replicas", kKept, "`roles[].replicas`; a placeholder stays and is named"},
    Fact{"spec.tasks[].template", kKept, "`roles[].template`"},
    Fact{"spec.tasks[].policies", kKept,
         "TaskCompleted → CompleteJob: `success`, without parameter servers; failures: `failure`; others are "
         "*lost*, AbortJob is "
         "*changed*"},
    Fact{"spec.tasks[].minAvailable", kKept, "counts for a missing `spec.minAvailable`; otherwise *changed*"},
    Fact{"spec.tasks[].maxRetry", kChanged, "`failure.maxRestarts` counts for the whole job"},
    Fact{"spec.tasks[].dependsOn", kChanged, "nothing: all roles start together"},
    Fact{"spec.tasks[].topologyPolicy", kLost, "nothing"},
    Fact{"spec.tasks[].partitionPolicy", kLost, "nothing"},
    Fact{"spec.policies", kKept, "as those of tasks"},
    Fact{"spec.plugins", kKept, "`framework`, variables, host lists: below"},
    Fact{"spec.queue", kKept, "`queue`: the Queue must exist"},
    Fact{"spec.priorityClassName", kKept, "`priorityClassName`"},
    Fact{"spec.minAvailable", kKept, "`gang.minAvailable` if below the number of pods; 0 means all"},
    Fact{"spec.minSuccess", kKept, "`success` if it is 1 or the number of pods; otherwise *lost*"},
    Fact{"spec.maxRetry", kKept,
         "`failure.maxRestarts` if Volcano restarts members; 0 and none are 3. It limits no restarts by the "
         "kubelet: *changed* if tasks have both"},
    Fact{"spec.ttlSecondsAfterFinished", kKept, "`run.ttlSecondsAfterFinished`"},
    Fact{"spec.runningEstimate", kKept, "`estimate.durationSeconds`"},
    Fact{"spec.schedulerName", kKept, "nothing: the operator names the scheduler"},
    Fact{"spec.networkTopology", kLost, "nothing: name a level in `locality`"},
    Fact{"spec.volumes", kKept,
         "volume and mount in the templates; one that creates its claim *cannot work*"},
};

constexpr std::array kVolcanoBehaviours{
    Fact{"no policy: the job completes with all pods of all tasks", kKept, "`success.roles` with all roles"},
    Fact{"`minAvailable` below the number of pods: some may fail", kChanged,
         "a failed member fails or restarts the job"},
    Fact{"`restartPolicy: OnFailure`: the container restarts in its pod", kKept,
         "`failure.rules` and 1000 restarts; with framework Custom of that member alone. *Changed* if it "
         "writes to an emptyDir"},
    Fact{"`restartPolicy: Never`, no policy: the other pods run to their end", kChanged,
         "`failure.maxRestarts: 0`: the job fails at once"},
    Fact{"plugin env: `VC_TASK_INDEX`, `VK_TASK_INDEX`", kKept, "the variables, by `TRAINYARD_INDEX`"},
    Fact{"plugin svc: `VC_TASK_HOSTS`, `VC_TASK_NUM`", kKept, "the variables, for every task"},
    Fact{"plugin svc: `/etc/volcano/TASK.host`", kKept,
         "a ConfigMap `JOB-hosts`, if the file refers to the folder"},
    Fact{"plugin svc: a NetworkPolicy", kChanged, "nothing: write one that selects `trainyard.dev/job-name`"},
    Fact{"plugin ssh with one task of `sshd` and one of `mpirun`", kKept,
         "`framework: MPI`, roles `launcher` and `worker`, `MPI_HOST` and the host files"},
    Fact{"plugin ssh otherwise", kCannotWork, "nothing: members have no keys"},
    Fact{"plugins pytorch, tensorflow, mpi, jax", kKept,
         "`framework`, roles by their arguments, the same `MASTER_PORT`"},
    Fact{"plugin pytorch: tasks beside its master and worker", kKept,
         "roles; `WORLD_SIZE` and `PET_NNODES` count master and worker. Of the other plugins: *cannot work*"},
    Fact{"a template's variable that a plugin overrides, such as `RANK`", kKept,
         "left out: the plugin's counts"},
    Fact{"a program's ssh settings, such as `plm_rsh_args`, `horovodrun -p` or `ssh`", kCannotWork,
         "nothing: they replace the operator's"},
    Fact{"annotation or label `volcano.sh/preemptable`", kKept, "`preemptible`, of the whole job"},
    Fact{"other annotations and labels for Volcano's scheduler", kLost, "nothing"},
    Fact{"resources `volcano.sh/*`", kCannotWork, "nothing: only Volcano's scheduler gives them"},
    Fact{"other plugins", kCannotWork, "nothing"},
    Fact{"one task for each replica, as TorchX writes them", kKept,
         "one role, if only the tasks' numbers differ"},
    Fact{"members are called `JOB-TASK-N`", kKept,
         "the same if the task's name is a role's; otherwise the template's texts are rewritten"},
    Fact{"pods' labels and annotations `volcano.sh/*`, `scheduling.k8s.io/group-name`", kKept,
         "a `fieldRef` reads the field of that value"},
};

constexpr std::array kVolcanoLabels{
    LabelFact{"volcano.sh/job-name", "{job}", pod_paths::kJob},
    LabelFact{"volcano.sh/task-spec", "{task}", pod_paths::kRole},
    LabelFact{"volcano.sh/task-index", "", pod_paths::kIndex},
    LabelFact{"volcano.sh/job-namespace", "", pod_paths::kNamespace},
    LabelFact{"volcano.sh/job-name", "", pod_paths::kJob, false},
    LabelFact{"volcano.sh/task-spec", "{task}", pod_paths::kRole, false},
    LabelFact{"volcano.sh/task-index", "", pod_paths::kIndex, false},
    LabelFact{"scheduling.k8s.io/group-name", "", pod_paths::kJobUid, false},
    LabelFact{"scheduling.volcano.sh/group-name", "", pod_paths::kJobUid, false},
};

constexpr std::array<VariableFact, 0> kNoVariables{};

constexpr SystemFacts kTrain{"TrainJob",       "trainer.kubeflow.org", "Kubeflow",     kTrainFields,
                             kTrainBehaviours, kTrainLabels,           kTrainVariables};
constexpr SystemFacts kVolcano{
    "Job", "batch.volcano.sh", "Volcano", kVolcanoFields, kVolcanoBehaviours, kVolcanoLabels, kNoVariables};

void addRows(std::span<const Fact> facts, bool fields, std::string& out) {
  for (const Fact& each : facts) {
    const std::string what = fields ? fmt::format("`{}`", each.what) : std::string(each.what);
    out += fmt::format("| {} | {} | {} |\n", what, toString(each.severity), each.becomes);
  }
}

void addTable(std::string_view title, std::span<const Fact> fields, std::span<const Fact> behaviours,
              std::string& out) {
  out += fmt::format("| {} | outcome | in the TrainingJob |\n|---|---|---|\n", title);
  addRows(fields, true, out);
  addRows(behaviours, false, out);
  out += '\n';
}

}  // namespace

bool SystemFacts::knows(std::string_view path) const {
  const auto isAt = [&](const Fact& each) {
    if (!each.what.starts_with(path)) return false;
    const std::string_view rest = each.what.substr(path.size());
    return rest.empty() || rest.front() == '.' || rest.front() == '[';
  };
  return std::any_of(fields.begin(), fields.end(), isAt) ||
         (family != nullptr && std::any_of(family->fields.begin(), family->fields.end(), isAt));
}

bool SystemFacts::hasRow(std::string_view path) const {
  const auto is = [&](const Fact& each) { return each.what == path; };
  return std::any_of(fields.begin(), fields.end(), is) ||
         (family != nullptr && std::any_of(family->fields.begin(), family->fields.end(), is));
}

std::vector<const SystemFacts*> allFacts() {
  std::vector<const SystemFacts*> all = kubeflowFacts();
  for (const auto& more : {batchFacts(), rayFacts()}) all.insert(all.end(), more.begin(), more.end());
  for (const SystemFacts* each : {&kVolcano, &kTrain}) all.push_back(each);
  return all;
}

const SystemFacts* factsOf(std::string_view kind, std::string_view group) {
  for (const SystemFacts* each : allFacts()) {
    if (each->kind == kind && each->group == group) return each;
  }
  return nullptr;
}

std::string conversionTables() {
  std::string out;
  const FamilyFacts* last = nullptr;
  for (const SystemFacts* each : allFacts()) {
    if (each->family != nullptr && each->family != last)
      addTable(each->family->title, each->family->fields, each->family->behaviours, out);
    last = each->family;
    addTable(fmt::format("{} of `{}`", each->kind, each->group), each->fields, each->behaviours, out);
  }
  return out;
}

}  // namespace trainyard::cli
