#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace trainyard::model {

// How an owner's spec lists its pods.
enum class WorkloadForm {
  kJob,             // one template: spec.template, spec.parallelism
  kReplicatedJobs,  // spec.replicatedJobs[]: template.spec as of a Job
  kReplicaSpecs,    // a map of roles below the field of the kind's name: replicas, template
  kRayCluster,      // headGroupSpec and workerGroupSpecs[]
  kJobSetOfName,    // not at all: the JobSet of the same name does, which its controller makes of a runtime
};

// A kind whose controller makes pods that Trainyard places as a Gang.
struct OwnerKind {
  std::string_view kind;
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  WorkloadForm form;
  std::string_view podsIn;  // the object, or list, with the pods of that form: "spec.mpiReplicaSpecs"
  // The object with the fields `suspend` and `managedBy`; empty if the kind has none.
  std::string_view suspendIn;
  std::string_view managedBy;  // the value of the field `managedBy` that names the kind's own controller
  // The types of its conditions that end it; or, if it reports its end in a field, that field's values.
  std::string_view succeeded;
  std::string_view failed;
  std::string_view endIn = {};  // that field; empty: conditions
  // The field that must be true for its controller to obey `suspend`; empty: none.
  std::string_view suspendsIf = {};
};

// One row a kind. What is particular about a kind is read from here alone.
inline constexpr std::array<OwnerKind, 11> kOwnerKinds{{
    {"Job", "batch", "v1", "jobs", WorkloadForm::kJob, "spec", "spec", "kubernetes.io/job-controller",
     "Complete", "Failed"},
    {"JobSet", "jobset.x-k8s.io", "v1alpha2", "jobsets", WorkloadForm::kReplicatedJobs, "spec.replicatedJobs",
     "spec", "jobset.sigs.k8s.io/jobset-controller", "Completed", "Failed"},
    {"TrainJob", "trainer.kubeflow.org", "v1alpha1", "trainjobs", WorkloadForm::kJobSetOfName, "", "spec",
     "trainer.kubeflow.org/trainjob-controller", "Complete", "Failed"},
    {"MPIJob", "kubeflow.org", "v2beta1", "mpijobs", WorkloadForm::kReplicaSpecs, "spec.mpiReplicaSpecs",
     "spec.runPolicy", "kubeflow.org/mpi-operator", "Succeeded", "Failed"},
    {"PyTorchJob", "kubeflow.org", "v1", "pytorchjobs", WorkloadForm::kReplicaSpecs,
     "spec.pytorchReplicaSpecs", "spec.runPolicy", "kubeflow.org/training-operator", "Succeeded", "Failed"},
    {"TFJob", "kubeflow.org", "v1", "tfjobs", WorkloadForm::kReplicaSpecs, "spec.tfReplicaSpecs",
     "spec.runPolicy", "kubeflow.org/training-operator", "Succeeded", "Failed"},
    {"XGBoostJob", "kubeflow.org", "v1", "xgboostjobs", WorkloadForm::kReplicaSpecs, "spec.xgbReplicaSpecs",
     "spec.runPolicy", "kubeflow.org/training-operator", "Succeeded", "Failed"},
    {"PaddleJob", "kubeflow.org", "v1", "paddlejobs", WorkloadForm::kReplicaSpecs, "spec.paddleReplicaSpecs",
     "spec.runPolicy", "kubeflow.org/training-operator", "Succeeded", "Failed"},
    {"JAXJob", "kubeflow.org", "v1", "jaxjobs", WorkloadForm::kReplicaSpecs, "spec.jaxReplicaSpecs",
     "spec.runPolicy", "kubeflow.org/training-operator", "Succeeded", "Failed"},
    {"RayCluster", "ray.io", "v1", "rayclusters", WorkloadForm::kRayCluster, "spec", "spec",
     "ray.io/kuberay-operator", "", ""},
    {"RayJob", "ray.io", "v1", "rayjobs", WorkloadForm::kRayCluster, "spec.rayClusterSpec", "spec",
     "ray.io/kuberay-operator", "Complete", "Failed", "status.jobDeploymentStatus",
     "spec.shutdownAfterJobFinishes"},
}};

// Null for a kind that has no row.
[[nodiscard]] constexpr const OwnerKind* findOwnerKind(std::string_view group, std::string_view kind) {
  const auto* at = std::find_if(kOwnerKinds.begin(), kOwnerKinds.end(), [&](const OwnerKind& each) {
    return each.group == group && each.kind == kind;
  });
  return at == kOwnerKinds.end() ? nullptr : at;
}

// "batch" of "batch/v1", and nothing of "v1".
[[nodiscard]] constexpr std::string_view groupOf(std::string_view apiVersion) {
  const std::size_t slash = apiVersion.find('/');
  return slash == std::string_view::npos ? std::string_view() : apiVersion.substr(0, slash);
}

}  // namespace trainyard::model
