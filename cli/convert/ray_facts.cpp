#include <array>

#include "cli/convert/pod_paths.h"
#include "cli/convert/system_facts.h"

namespace trainyard::cli {
namespace {

using enum Severity;

constexpr std::array kClusterFields{
    Fact{"cluster.rayVersion", kKept, "nothing: the image has it"},
    Fact{"cluster.headGroupSpec.template", kKept, "`roles[].template` of role `head`"},
    Fact{"cluster.headGroupSpec.rayStartParams", kKept, "flags of `ray start` in the command"},
    Fact{"cluster.workerGroupSpecs[].groupName", kKept, "`roles[].name`: letters and digits, at most 16"},
    Fact{"cluster.workerGroupSpecs[].replicas", kKept, "`roles[].replicas`, times `numOfHosts`"},
    Fact{"cluster.workerGroupSpecs[].numOfHosts", kKept, "as `replicas`"},
    Fact{"cluster.workerGroupSpecs[].minReplicas", kKept, "nothing: it has an effect with autoscaling only"},
    Fact{"cluster.workerGroupSpecs[].maxReplicas", kKept, "nothing: it has an effect with autoscaling only"},
    Fact{"cluster.workerGroupSpecs[].template", kKept, "`roles[].template`"},
    Fact{"cluster.workerGroupSpecs[].rayStartParams", kKept, "flags of `ray start` in the command"},
    Fact{"cluster.enableInTreeAutoscaling", kChanged, "nothing: the size is fixed"},
    Fact{"cluster.autoscalerOptions", kKept, "nothing: it has an effect with autoscaling only"},
    Fact{"cluster.suspend", kKept, "`run.suspend`; *changed* with Kueue's label: left out"},
    Fact{"cluster.managedBy", kLost, "nothing, unless it is KubeRay"},
};

constexpr std::array kClusterBehaviours{
    Fact{"`ray start` with `num-cpus`, `num-gpus`, `memory` by the container's limits", kKept,
         "in the command"},
    Fact{"workers wait for the head", kKept, "`ray health-check` in the command"},
    Fact{"`FQ_RAY_IP`, `RAY_IP`, `RAY_PORT`, `RAY_ADDRESS`", kKept, "the variables"},
    Fact{"`/dev/shm` in memory", kKept, "a volume, unless the template has one"},
    Fact{"the Service of the head", kLost,
         "`JOB-head-0.JOB` names it; a program that names the Service *cannot work*"},
    Fact{"a worker that ends is replaced", kKept, "`failure.restartScope: Pod`"},
};

constexpr FamilyFacts kRayFamily{"RayCluster of `ray.io`, by itself or in a RayJob", kClusterFields,
                                 kClusterBehaviours};

constexpr std::array<Fact, 0> kNoFieldsOfCluster{};
constexpr std::array<VariableFact, 0> kNoneOfRay{};

constexpr std::array kOnlyCluster{
    Fact{"it runs until it is deleted", kChanged, "the job has succeeded when its head ends"},
};

constexpr std::array kRayJobFields{
    Fact{"spec.rayClusterSpec", kKept, "above"},
    Fact{"spec.entrypoint", kKept, "the head runs `ray job submit` with it"},
    Fact{"spec.runtimeEnvYAML", kKept, "`--runtime-env-json`"},
    Fact{"spec.metadata", kKept, "`--metadata-json`"},
    Fact{"spec.jobId", kKept, "`--submission-id`"},
    Fact{"spec.entrypointNumCpus", kKept, "`--entrypoint-num-cpus`"},
    Fact{"spec.entrypointNumGpus", kKept, "`--entrypoint-num-gpus`"},
    Fact{"spec.entrypointResources", kKept, "`--entrypoint-resources`"},
    Fact{"spec.submissionMode", kKept, "the head submits; InteractiveMode *cannot work*"},
    Fact{"spec.submitterPodTemplate", kLost, "nothing: the head submits"},
    Fact{"spec.submitterConfig", kLost, "nothing: the head submits"},
    Fact{"spec.shutdownAfterJobFinishes", kKept,
         "`run.cleanPodPolicy`; *changed* without it: workers are deleted"},
    Fact{"spec.ttlSecondsAfterFinished", kChanged, "`run.ttlSecondsAfterFinished` deletes the TrainingJob"},
    Fact{"spec.activeDeadlineSeconds", kKept, "`run.activeDeadlineSeconds`"},
    Fact{"spec.backoffLimit", kKept, "`failure.rules`: the head starts again; *changed*: workers stay"},
    Fact{"spec.clusterSelector", kCannotWork,
         "nothing: the RayJob is left out, as its RayCluster is another object"},
    Fact{"spec.suspend", kKept, "`run.suspend`; *changed* with Kueue's label: left out"},
    Fact{"spec.managedBy", kLost, "nothing, unless it is KubeRay"},
};

constexpr std::array kRayJobBehaviours{
    Fact{"success: that of the entrypoint", kKept, "`success.roles` with the head"},
};

constexpr std::array kRayLabels{
    LabelFact{"ray.io/cluster", "{job}", pod_paths::kJob, true, "", true},
    LabelFact{"ray.io/group", "{task}", pod_paths::kRole, true, "", true},
};

constexpr SystemFacts kRayCluster{"RayCluster", "ray.io",   "KubeRay",  kNoFieldsOfCluster,
                                  kOnlyCluster, kRayLabels, kNoneOfRay, &kRayFamily};
constexpr SystemFacts kRayJob{"RayJob",          "ray.io",   "KubeRay",  kRayJobFields,
                              kRayJobBehaviours, kRayLabels, kNoneOfRay, &kRayFamily};

}  // namespace

std::vector<const SystemFacts*> rayFacts() { return {&kRayCluster, &kRayJob}; }

}  // namespace trainyard::cli
