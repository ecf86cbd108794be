#include "cli/convert/system_facts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

using enum Severity;

constexpr std::string_view kIndexPath = "metadata.labels['trainyard.dev/index']";
constexpr std::string_view kRolePath = "metadata.labels['trainyard.dev/role']";
constexpr std::string_view kJobPath = "metadata.labels['trainyard.dev/job-name']";
constexpr std::string_view kJobUidPath = "metadata.labels['trainyard.dev/job-uid']";
constexpr std::string_view kNamespacePath = "metadata.namespace";

// --- Kubeflow's PyTorchJob

constexpr std::array kPyTorchFields{
    Fact{"spec.pytorchReplicaSpecs.*.replicas", kKept,
         "`roles[].replicas` of roles `master` and `worker`; a placeholder (`$NODES`) stays and is named"},
    Fact{"spec.pytorchReplicaSpecs.*.template", kKept, "`roles[].template`"},
    Fact{"spec.pytorchReplicaSpecs.*.restartPolicy", kKept,
         "`failure.rules` and `failure.maxRestarts`: OnFailure and Always count every failure, Never ends "
         "the job, ExitCode restarts on codes from 128. Always is *changed*: exit code 0 is success"},
    Fact{"spec.nprocPerNode", kKept, "variables `PET_NPROC_PER_NODE` and, with a Master, `WORLD_SIZE`"},
    Fact{
        "spec.elasticPolicy.minReplicas", kKept,
        "`elastic.minReplicas` with `metrics`; otherwise the size is fixed, and `PET_NNODES` has the bounds"},
    Fact{"spec.elasticPolicy.maxReplicas", kKept, "as `minReplicas`"},
    Fact{"spec.elasticPolicy.maxRestarts", kKept, "variable `PET_MAX_RESTARTS`"},
    Fact{"spec.elasticPolicy.metrics", kChanged,
         "`elastic`: free capacity decides. A command that fixes the number of nodes keeps the size"},
    Fact{"spec.elasticPolicy.nProcPerNode", kKept, "variable `PET_NPROC_PER_NODE`"},
    Fact{"spec.elasticPolicy.rdzvBackend", kKept, "c10d; another one as `PET_RDZV_BACKEND`"},
    Fact{"spec.elasticPolicy.rdzvHost", kKept, "variable `PET_RDZV_ENDPOINT`"},
    Fact{"spec.elasticPolicy.rdzvPort", kKept, "variable `PET_RDZV_ENDPOINT`"},
    Fact{"spec.elasticPolicy.rdzvId", kKept, "variable `PET_RDZV_ID`"},
    Fact{"spec.elasticPolicy.rdzvConf", kKept, "variable `PET_RDZV_CONF`"},
    Fact{"spec.elasticPolicy.standalone", kLost, "write `--standalone` into the command"},
    Fact{"spec.runPolicy.cleanPodPolicy", kKept,
         "`run.cleanPodPolicy`, by default `None` as in Kubeflow. *Changed* if pods that hold GPUs would run "
         "on"},
    Fact{"spec.runPolicy.ttlSecondsAfterFinished", kKept, "`run.ttlSecondsAfterFinished`"},
    Fact{"spec.runPolicy.activeDeadlineSeconds", kKept, "`run.activeDeadlineSeconds`"},
    Fact{"spec.runPolicy.backoffLimit", kKept, "`failure.maxRestarts`; 1000 without it"},
    Fact{"spec.runPolicy.suspend", kKept, "`run.suspend`; *changed* with Kueue's label: left out"},
    Fact{"spec.runPolicy.managedBy", kKept, "nothing for Kubeflow's operator; otherwise *lost*"},
    Fact{"spec.runPolicy.schedulingPolicy.queue", kKept, "`queue`; *lost* if Kueue's label names another"},
    Fact{"spec.runPolicy.schedulingPolicy.priorityClass", kKept, "`priorityClassName`"},
    Fact{"spec.runPolicy.schedulingPolicy.minAvailable", kKept,
         "`gang.minAvailable` if below the number of pods"},
    Fact{"spec.runPolicy.schedulingPolicy.minResources", kKept, "nothing: a gang starts when its pods fit"},
    Fact{"spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds", kKept,
         "nothing: no part of a gang holds nodes"},
};

constexpr std::array kPyTorchBehaviours{
    Fact{"`JOB-master-0` and `JOB-worker-N` as host names", kKept,
         "`gang.memberServices`, if the command, a variable or a ConfigMap of the file names one"},
    Fact{"`MASTER_PORT` 23456, or the container port `pytorchjob-port`", kKept,
         "variables `MASTER_PORT`, `PET_MASTER_PORT`"},
    Fact{"`RANK`, `WORLD_SIZE`, `MASTER_ADDR`, `PET_*`", kKept,
         "set by the operator ([frameworks.md](frameworks.md))"},
    Fact{"nprocPerNode `auto`: processes by GPUs, otherwise by CPUs", kKept,
         "`PET_NPROC_PER_NODE: auto` in templates without `nvidia.com/gpu`"},
    Fact{"labels `training.kubeflow.org/*` of pods", kKept,
         "job-name, replica-type, operator-name and job-role in the templates; a `fieldRef` of replica-index "
         "reads `trainyard.dev/index`"},
    Fact{"success: the master's end, or that of all workers; with `elasticPolicy` that of one", kKept,
         "the default, or `success.operator: Any`"},
    Fact{"keys of `pytorchReplicaSpecs` in any case", kKept, "read as `Master` and `Worker`"},
    Fact{"a template's variable that Kubeflow overrides, such as `WORLD_SIZE`", kKept,
         "left out: Kubeflow's counts"},
    Fact{"a failed container restarts in its pod", kKept,
         "the gang restarts; *changed* if it writes to an emptyDir"},
};

constexpr std::array kPyTorchLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", kJobPath},
    LabelFact{"training.kubeflow.org/operator-name", "pytorchjob-controller", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", kRolePath},
    LabelFact{"training.kubeflow.org/job-role", "master", "", true, "master"},
    LabelFact{"training.kubeflow.org/replica-index", "", kIndexPath},
    LabelFact{"job-name", "", kJobPath},
    LabelFact{"pytorch-job-name", "", kJobPath},
    LabelFact{"replica-type", "", kRolePath},
    LabelFact{"pytorch-replica-type", "", kRolePath},
    LabelFact{"replica-index", "", kIndexPath},
    LabelFact{"pytorch-replica-index", "", kIndexPath},
};

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
    LabelFact{"jobset.sigs.k8s.io/jobset-name", "", kJobPath},
    LabelFact{"jobset.sigs.k8s.io/replicatedjob-name", "{task}", kRolePath, true, "", true},
    LabelFact{"jobset.sigs.k8s.io/jobset-uid", "", kJobUidPath},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", kIndexPath},
    LabelFact{"batch.kubernetes.io/job-name", "", kJobPath},
    LabelFact{"jobset.sigs.k8s.io/jobset-name", "", kJobPath, false},
    LabelFact{"jobset.sigs.k8s.io/replicatedjob-name", "{task}", kRolePath, false},
    LabelFact{"batch.kubernetes.io/job-completion-index", "", kIndexPath, false},
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
    LabelFact{"volcano.sh/job-name", "{job}", kJobPath},
    LabelFact{"volcano.sh/task-spec", "{task}", kRolePath},
    LabelFact{"volcano.sh/task-index", "", kIndexPath},
    LabelFact{"volcano.sh/job-namespace", "", kNamespacePath},
    LabelFact{"volcano.sh/job-name", "", kJobPath, false},
    LabelFact{"volcano.sh/task-spec", "{task}", kRolePath, false},
    LabelFact{"volcano.sh/task-index", "", kIndexPath, false},
    LabelFact{"scheduling.k8s.io/group-name", "", kJobUidPath, false},
    LabelFact{"scheduling.volcano.sh/group-name", "", kJobUidPath, false},
};

constexpr std::array<VariableFact, 0> kNoVariables{};

constexpr SystemFacts kPyTorch{"PyTorchJob",       "kubeflow.org", "Kubeflow",  kPyTorchFields,
                               kPyTorchBehaviours, kPyTorchLabels, kNoVariables};
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

}  // namespace

bool SystemFacts::knows(std::string_view path) const {
  return std::any_of(fields.begin(), fields.end(), [&](const Fact& each) {
    if (!each.what.starts_with(path)) return false;
    const std::string_view rest = each.what.substr(path.size());
    return rest.empty() || rest.front() == '.' || rest.front() == '[';
  });
}

bool SystemFacts::hasRow(std::string_view path) const {
  return std::any_of(fields.begin(), fields.end(), [&](const Fact& each) { return each.what == path; });
}

std::vector<const SystemFacts*> allFacts() { return {&kPyTorch, &kVolcano, &kTrain}; }

const SystemFacts* factsOf(std::string_view kind, std::string_view group) {
  for (const SystemFacts* each : allFacts()) {
    if (each->kind == kind && each->group == group) return each;
  }
  return nullptr;
}

std::string conversionTables() {
  std::string out;
  for (const SystemFacts* each : allFacts()) {
    out += fmt::format("| {} of `{}` | outcome | in the TrainingJob |\n|---|---|---|\n", each->kind,
                       each->group);
    addRows(each->fields, true, out);
    addRows(each->behaviours, false, out);
    out += '\n';
  }
  return out;
}

}  // namespace trainyard::cli
