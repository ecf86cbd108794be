#include <array>

#include "cli/convert/pod_paths.h"
#include "cli/convert/system_facts.h"

namespace trainyard::cli {
namespace {

using enum Severity;

// --- every job of Kubeflow's operators

constexpr std::array kKubeflowFields{
    Fact{"spec.*ReplicaSpecs.*.replicas", kKept,
         "`roles[].replicas`, of roles named as the keys; a placeholder (`$NODES`) stays and is named"},
    Fact{"spec.*ReplicaSpecs.*.template", kKept, "`roles[].template`"},
    Fact{"spec.*ReplicaSpecs.*.restartPolicy", kKept,
         "`failure.rules` and `failure.maxRestarts`: OnFailure and Always count every failure, Never ends "
         "the job, ExitCode restarts on codes from 128. Always is *changed*: exit code 0 is success"},
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

constexpr std::array kKubeflowBehaviours{
    Fact{"`JOB-worker-N` and so on as host names", kKept,
         "`gang.memberServices`, if the command, a variable or a ConfigMap of the file names one"},
    Fact{"labels `training.kubeflow.org/*` of pods", kKept,
         "job-name, replica-type, operator-name and job-role in the templates; a `fieldRef` of replica-index "
         "reads `trainyard.dev/index`"},
    Fact{"keys of the replica specs in any case", kKept, "read as `Master`, `Worker` and so on"},
    Fact{"a template's variable that Kubeflow overrides, such as `WORLD_SIZE`", kKept,
         "left out: Kubeflow's counts"},
    Fact{"a failed container restarts in its pod", kKept,
         "the gang restarts; *changed* if it writes to an emptyDir"},
};

constexpr FamilyFacts kKubeflow{"Every job of `kubeflow.org`", kKubeflowFields, kKubeflowBehaviours};

constexpr std::array<Fact, 0> kNoFields{};
constexpr std::array<VariableFact, 0> kNothingSet{};

// --- PyTorchJob

constexpr std::array kPyTorchFields{
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
};

constexpr std::array kPyTorchBehaviours{
    Fact{"`MASTER_PORT` 23456, or the container port `pytorchjob-port`", kKept,
         "variables `MASTER_PORT`, `PET_MASTER_PORT`"},
    Fact{"`RANK`, `WORLD_SIZE`, `MASTER_ADDR`, `PET_*`", kKept,
         "set by the operator ([frameworks.md](frameworks.md))"},
    Fact{"nprocPerNode `auto`: processes by GPUs, otherwise by CPUs", kKept,
         "`PET_NPROC_PER_NODE: auto` in templates without `nvidia.com/gpu`"},
    Fact{"success: the master's end, or that of all workers; with `elasticPolicy` that of one", kKept,
         "the default, or `success.operator: Any`"},
};

constexpr std::array kPyTorchLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", pod_paths::kJob},
    LabelFact{"training.kubeflow.org/operator-name", "pytorchjob-controller", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/job-role", "master", "", true, "master"},
    LabelFact{"training.kubeflow.org/replica-index", "", pod_paths::kIndex},
    LabelFact{"job-name", "", pod_paths::kJob},
    LabelFact{"pytorch-job-name", "", pod_paths::kJob},
    LabelFact{"replica-type", "", pod_paths::kRole},
    LabelFact{"pytorch-replica-type", "", pod_paths::kRole},
    LabelFact{"replica-index", "", pod_paths::kIndex},
    LabelFact{"pytorch-replica-index", "", pod_paths::kIndex},
};

// --- TFJob

constexpr std::array kTensorFlowFields{
    Fact{"spec.successPolicy", kKept,
         "the default with a Chief or Master, and for AllWorkers; otherwise *changed*: all workers have to "
         "end, not "
         "worker 0 alone"},
    Fact{"spec.enableDynamicWorker", kKept, "`TF_CONFIG` of a worker names itself and the parameter servers"},
};

constexpr std::array kTensorFlowBehaviours{
    Fact{"`TF_CONFIG`", kKept,
         "set by the operator ([frameworks.md](frameworks.md)). *Changed* with PS and without "
         "`enableDynamicWorker`: a worker sees no other workers"},
    Fact{"the container port `tfjob-port`", kKept, "2222; *changed* if it is another one"},
};

constexpr std::array kTensorFlowLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", pod_paths::kJob},
    LabelFact{"training.kubeflow.org/operator-name", "tfjob-controller", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/job-role", "master", "", true, "chief"},
    LabelFact{"training.kubeflow.org/replica-index", "", pod_paths::kIndex},
};

// --- XGBoostJob

constexpr std::array kXgBoostBehaviours{
    Fact{"`MASTER_ADDR`, `MASTER_PORT`, `RANK`, `WORLD_SIZE`, `WORKER_ADDRS`, `WORKER_PORT`", kKept,
         "the variables, with the ports `xgboostjob-port` of the templates, by default 9999; `framework: "
         "Custom`"},
    Fact{"success: the master's end", kKept, "the default"},
};

constexpr std::array kXgBoostLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", pod_paths::kJob},
    LabelFact{"training.kubeflow.org/operator-name", "xgboostjob-controller", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/job-role", "master", "", true, "master"},
    LabelFact{"training.kubeflow.org/replica-index", "", pod_paths::kIndex},
};

// --- PaddleJob

constexpr std::array kPaddleFields{
    Fact{"spec.elasticPolicy", kLost, "nothing: the size is fixed; write `elastic`"},
};

constexpr std::array kPaddleBehaviours{
    Fact{"`PADDLE_MASTER`, `PADDLE_NNODES`, `PADDLE_JOB_ID`, `PADDLE_SERVER_NUM`, `PADDLE_TRAINER_NUM`",
         kKept, "the variables; `framework: Custom`"},
    Fact{"without a Master: worker 0 is the rendezvous", kKept,
         "worker 0 is a role `master` of its own, which reads its address as Kubeflow has it"},
};

constexpr std::array kPaddleLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", pod_paths::kJob},
    LabelFact{"training.kubeflow.org/operator-name", "paddlejob-controller", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/job-role", "master", "", true, "master"},
    LabelFact{"training.kubeflow.org/replica-index", "", pod_paths::kIndex},
};

// --- JAXJob

constexpr std::array kJaxBehaviours{
    Fact{"`COORDINATOR_ADDRESS`, `COORDINATOR_PORT`, `NUM_PROCESSES`, `PROCESS_ID`", kKept,
         "the variables, with the port `jaxjob-port`, by default 6666, beside those of `framework: JAX`"},
};

constexpr std::array kJaxLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", pod_paths::kJob},
    LabelFact{"training.kubeflow.org/operator-name", "jaxjob-controller", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/replica-index", "", pod_paths::kIndex},
};

// --- MPIJob

constexpr std::array kMpiFields{
    Fact{"spec.slotsPerWorker", kKept,
         "the host file has a slot for each GPU, or one; *changed* if the number is another one"},
    Fact{"spec.runLauncherAsWorker", kChanged, "one worker more; the launcher runs no process"},
    Fact{"spec.sshAuthMountPath", kKept,
         "nothing: the operator gives the keys; a program that reads `.ssh` *cannot work*"},
    Fact{"spec.launcherCreationPolicy", kKept, "nothing: the launcher waits for all workers"},
    Fact{"spec.mpiImplementation", kKept, "the host file that replaces `/etc/mpi/hostfile`"},
    Fact{"spec.mpiDistribution", kKept, "as `mpiImplementation` (v1alpha2)"},
    Fact{"spec.mainContainer", kKept,
         "nothing: the operator sets variables in all containers (v1, v1alpha2)"},
    Fact{"spec.cleanPodPolicy", kKept, "as that of `runPolicy` (v1, v1alpha2)"},
    Fact{"spec.backoffLimit", kKept, "as that of `runPolicy` (v1alpha2)"},
    Fact{"spec.activeDeadlineSeconds", kKept, "as that of `runPolicy` (v1alpha2)"},
};

constexpr std::array kMpiBehaviours{
    Fact{"`mpirun` or `horovodrun` in role Launcher", kKept,
         "`framework: MPI` or `Horovod`, role `launcher`"},
    Fact{"v2beta1: the launcher's Job starts it again, `backoffLimit` 6 times without a number", kKept,
         "`failure.rules` and `failure.maxRestarts`: the whole gang starts again"},
    Fact{"v1, v1alpha2: processes are started by `kubectl exec`", kChanged,
         "by ssh: the images need an ssh client, those of workers `sshd`"},
    Fact{"the worker's `sshd`", kKept, "left out: the operator starts it. Another command is *changed*"},
    Fact{"`/etc/mpi/hostfile`, `/etc/mpi/discover_hosts.sh`", kKept,
         "files in `/etc/trainyard/mpi`: the template's texts are rewritten"},
    Fact{"a program's ssh settings, such as `plm_rsh_args`", kCannotWork,
         "nothing: they replace the operator's"},
};

constexpr std::array kMpiLabels{
    LabelFact{"training.kubeflow.org/job-name", "{job}", pod_paths::kJob},
    LabelFact{"training.kubeflow.org/operator-name", "mpi-operator", ""},
    LabelFact{"training.kubeflow.org/replica-type", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/job-role", "{role}", pod_paths::kRole},
    LabelFact{"training.kubeflow.org/replica-index", "", pod_paths::kIndex},
    LabelFact{"mpi-job-name", "", pod_paths::kJob},
    LabelFact{"mpi_job_name", "", pod_paths::kJob},
    LabelFact{"mpi-job-role", "", pod_paths::kRole},
};

constexpr SystemFacts kPyTorchJob{"PyTorchJob",       "kubeflow.org", "Kubeflow",  kPyTorchFields,
                                  kPyTorchBehaviours, kPyTorchLabels, kNothingSet, &kKubeflow};
constexpr SystemFacts kTensorFlowJob{
    "TFJob",           "kubeflow.org", "Kubeflow", kTensorFlowFields, kTensorFlowBehaviours,
    kTensorFlowLabels, kNothingSet,    &kKubeflow};
constexpr SystemFacts kXgBoostJob{"XGBoostJob",       "kubeflow.org", "Kubeflow",  kNoFields,
                                  kXgBoostBehaviours, kXgBoostLabels, kNothingSet, &kKubeflow};
constexpr SystemFacts kPaddleJob{"PaddleJob",       "kubeflow.org", "Kubeflow",  kPaddleFields,
                                 kPaddleBehaviours, kPaddleLabels,  kNothingSet, &kKubeflow};
constexpr SystemFacts kJaxJob{"JAXJob",       "kubeflow.org", "Kubeflow",  kNoFields,
                              kJaxBehaviours, kJaxLabels,     kNothingSet, &kKubeflow};
constexpr SystemFacts kMpiJob{"MPIJob",       "kubeflow.org", "Kubeflow",  kMpiFields,
                              kMpiBehaviours, kMpiLabels,     kNothingSet, &kKubeflow};

}  // namespace

std::vector<const SystemFacts*> kubeflowFacts() {
  return {&kPyTorchJob, &kMpiJob, &kTensorFlowJob, &kXgBoostJob, &kPaddleJob, &kJaxJob};
}

}  // namespace trainyard::cli
