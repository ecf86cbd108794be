#include "cli/convert/convert.h"

#include <catch2/catch.hpp>

#include "cli/convert/foreign_job.h"
#include "codec/job.h"

namespace trainyard::cli {
namespace {

const char* const kPod =
    R"({"spec":{"restartPolicy":"OnFailure","schedulerName":"volcano","containers":[{"name":"c",)"
    R"("image":"i","resources":{"limits":{"nvidia.com/gpu":8}}}]}})";

// Decodes the job as the operator does, with an identity as assigned by the API server.
model::Job read(const Converted& converted) {
  const auto job = codec::decodeJob(converted.json);
  CAPTURE(converted.json);
  REQUIRE(job);
  CHECK(job->specError == "");
  return *job;
}

bool notes(const Converted& converted, const std::string& words) {
  for (const Note& note : converted.notes) {
    if (note.text.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("A PyTorchJob becomes a TrainingJob of master and workers") {
  const auto converted = convertJob(
      std::string(
          R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"bert","namespace":"ml",)") +
      R"("uid":"u","labels":{"kueue.x-k8s.io/queue-name":"vision","a":"b"}},"spec":{"runPolicy":{"cleanPodPolicy":"All",)"
      R"("backoffLimit":2,"suspend":true,"schedulingPolicy":{"priorityClass":"high","scheduleTimeoutSeconds":60}},)"
      R"("elasticPolicy":{"minReplicas":2,"maxReplicas":8,"rdzvBackend":"c10d","metrics":[{}]},"pytorchReplicaSpecs":{)"
      R"("Master":{"replicas":1,"restartPolicy":"ExitCode","template":)" +
      kPod + R"(},"Worker":{"replicas":3,"template":)" + kPod + "}}}}");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  CHECK(job.key == model::ObjectKey{"ml", "bert"});
  CHECK(job.spec.queue.str() == "vision");
  REQUIRE(job.spec.roles.size() == 2);
  CHECK(job.spec.roles[0].name == "master");
  CHECK(job.spec.roles[1].name == "worker");
  CHECK(job.spec.roles[1].replicas == 3);
  REQUIRE(job.spec.elastic);
  CHECK(job.spec.elastic->minReplicas == 2);
  CHECK(job.spec.elastic->maxReplicas == 8);
  // Kueue had suspended it until its admission.
  CHECK_FALSE(job.spec.run.suspend);
  CHECK(notes(*converted, "runPolicy.suspend"));
  CHECK(notes(*converted, "ExitCode"));
  CHECK(notes(*converted, "elasticPolicy.metrics"));
  CHECK(converted->json.find("restartPolicy") == std::string::npos);
  CHECK(converted->json.find("schedulerName") == std::string::npos);
  CHECK(converted->json.find("\"uid\"") == std::string::npos);
}

TEST_CASE("A TrainJob becomes one role and notes name what its runtime holds") {
  const auto converted = convertJob(
      R"({"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"llama"},"spec":{)"
      R"("runtimeRef":{"name":"torch-distributed"},"trainer":{"image":"i","command":["torchrun","t.py"],"numNodes":4,)"
      R"("resourcesPerNode":{"limits":{"nvidia.com/gpu":8}}},"initializer":{}}})");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  REQUIRE(job.spec.roles.size() == 1);
  CHECK(job.spec.roles[0].replicas == 4);
  CHECK(notes(*converted, "torch-distributed"));
  CHECK(notes(*converted, "initializer"));
}

TEST_CASE("A Volcano Job retains its tasks and queue and success policy") {
  const auto converted = convertJob(
      std::string(
          R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"mpi"},"spec":{)"
          R"("minAvailable":2,"queue":"vision","maxRetry":3,"plugins":{"ssh":[],"svc":[]},"policies":[)"
          R"({"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"AbortJob"}],"tasks":[)"
          R"({"name":"Mpi-Master","replicas":1,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],)"
          R"("template":)") +
      kPod + R"(},{"name":"workers_2","replicas":2,"dependsOn":{"name":["x"]},"template":)" + kPod + "}]}}");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  REQUIRE(job.spec.roles.size() == 2);
  CHECK(job.spec.roles[0].name == "mpimaster");
  CHECK(job.spec.roles[1].name == "workers2");
  CHECK(job.spec.queue.str() == "vision");
  CHECK(converted->json.find(R"("success":{"roles":["mpimaster"]})") != std::string::npos);
  CHECK(converted->json.find(R"("failure":{"maxRestarts":1000,)") != std::string::npos);
  CHECK(converted->json.find(R"("gang":{"minAvailable":2})") != std::string::npos);
  CHECK(notes(*converted, "minAvailable 2 of 3"));
  CHECK(notes(*converted, "AbortJob"));
  CHECK_FALSE(notes(*converted, "PodEvicted"));
  CHECK(notes(*converted, "dependsOn"));
}

TEST_CASE("Everything that a converted job loses is noted on one line each") {
  const auto converted = convertJob(
      std::string(
          R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"a.b","annotations":{"team":"x",)"
          R"("kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"minSuccess":1,"runningEstimate":"1h",)"
          R"("plugins":{"ssh":[],"my\n---\nkind: Evil":[]},"policies":[{"events":["PodFailed","PodEvicted"],"action":"AbortJob"},)"
          R"({"exitCode":3,"action":"RestartJob"}],"tasks":[{"name":"w","replicas":2,"minAvailable":1,"maxRetry":2,)"
          R"("topologyPolicy":"none","template":)") +
      kPod + "}]}}");
  REQUIRE(converted);
  for (const char* words : {"metadata.name", "minSuccess 1", "plugin ssh", "PodFailed, PodEvicted",
                            "minAvailable 1 of 2", "task w: maxRetry", "task w.topologyPolicy"}) {
    CAPTURE(words);
    CHECK(notes(*converted, words));
  }
  for (const Note& note : converted->notes) CHECK(note.text.find('\n') == std::string::npos);
  CHECK(converted->json.find(R"("annotations":{"team":"x"})") != std::string::npos);
}

TEST_CASE("Volcano's policies of a task come before those of the job") {
  const auto converted = convertJob(
      std::string(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"a"},"spec":{)"
                  R"("policies":[{"exitCode":3,"action":"TerminateJob"}],"tasks":[{"name":"w","replicas":2,)"
                  R"("policies":[{"exitCode":3,"action":"RestartJob"}],"template":)") +
      kPod + "}]}}");
  REQUIRE(converted);
  const auto ofTask = converted->json.find(R"("action":"Count")");
  const auto ofJob = converted->json.find(R"("action":"FailJob")");
  REQUIRE(ofTask != std::string::npos);
  REQUIRE(ofJob != std::string::npos);
  CHECK(ofTask < ofJob);
}

TEST_CASE("A TrainJob's metadata for pods and its processes per node are noted") {
  const auto converted = convertJob(
      R"({"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"llama"},"spec":{)"
      R"("runtimeRef":{"name":"torch\u2028evil"},"labels":{"a":"b"},"trainer":{"image":"i","numProcPerNode":2}}})");
  REQUIRE(converted);
  CHECK(notes(*converted, "spec.labels"));
  CHECK(notes(*converted, "numProcPerNode"));
  for (const Note& note : converted->notes) CHECK(note.text.find("\u2028") == std::string::npos);
}

TEST_CASE("Volcano's MPI tasks become launcher and workers under any name") {
  const auto converted = convertJob(
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"horovod"},"spec":{"plugins":{)"
      R"("ssh":[],"svc":[],"mpi":["--master=boss","--worker=hands","--port=22"]},"tasks":[{"name":"boss","policies":[)"
      R"({"event":"TaskCompleted","action":"CompleteJob","timeout":"1m"}],"template":{"spec":{"containers":[{"name":"m",)"
      R"("image":"i","command":["sh","-c","mpiexec --host ${MPI_HOST} train"]}]}}},{"name":"hands","replicas":2,)"
      R"("template":{"spec":{"containers":[{"name":"m","image":"i","command":["sh","-c","/usr/sbin/sshd -D"],)"
      R"("resources":{"limits":{"nvidia.com/gpu":2}}}]}}}]}})");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  REQUIRE(job.spec.roles.size() == 2);
  CHECK(job.spec.roles[0].name == "launcher");
  CHECK(job.spec.roles[1].name == "worker");
  CHECK(converted->json.find("sshd") == std::string::npos);
  CHECK(converted->json.find(R"("success":{"roles":["launcher"]})") != std::string::npos);
  CHECK(converted->json.find(
            R"({"name":"MPI_HOST","value":"horovod-worker-0.horovod,horovod-worker-1.horovod"})") !=
        std::string::npos);
  CHECK(notes(*converted, "sshd"));
}

TEST_CASE("Arguments of Volcano's plug-ins name the roles or are noted and role names stay unique") {
  const std::string head =
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"a"},"spec":{"plugins":)";
  const auto torch =
      convertJob(head + R"({"pytorch":["--master=head","--worker=node","--port=29999"],"svc":["-x"]},)" +
                 R"("tasks":[{"name":"node","replicas":2,"template":)" + kPod +
                 R"(},{"name":"head","template":)" + kPod + "}]}}");
  REQUIRE(torch);
  const model::Job job = read(*torch);
  REQUIRE(job.spec.roles.size() == 2);
  CHECK(job.spec.roles[0].name == "worker");
  CHECK(job.spec.roles[1].name == "master");
  CHECK(notes(*torch, "--port=29999"));
  CHECK(notes(*torch, "svc: -x"));
  const auto mpi = convertJob(head + R"({"mpi":["--worker=w1"]},"tasks":[{"name":"worker","template":)" +
                              kPod + R"(},{"name":"w1","template":)" + kPod + "}]}}");
  REQUIRE(mpi);
  const model::Job other = read(*mpi);
  CHECK(other.spec.roles[0].name == "worker2");
  CHECK(other.spec.roles[1].name == "worker");
}

TEST_CASE("An elastic job that has no workers at the moment begins with the minimum") {
  const auto converted = convertJob(
      std::string(
          R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"bert"},"spec":{)"
          R"("runPolicy":{"schedulingPolicy":{"minAvailable":9}},"elasticPolicy":{"minReplicas":2,"maxReplicas":4,"metrics":[{}]},)"
          R"("pytorchReplicaSpecs":{"Worker":{"replicas":0,"template":)") +
      kPod + "}}}}");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  REQUIRE(job.spec.elastic);
  CHECK(job.spec.roles[0].replicas == 2);
  CHECK(notes(*converted, "Worker.replicas is 0"));
}

TEST_CASE("Input that no API server would accept causes no crash") {
  const std::string head = R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"a")";
  const std::string task =
      R"({"name":"worker","replicas":9223372036854775807,"template":)" + std::string(kPod) + "}";
  CHECK(convertJob(head + R"(,"annotations":["x"]},"spec":{"tasks":[)" + task + "]}}"));
  CHECK(convertJob(head + R"(},"spec":{"minAvailable":-3,"tasks":[)" + task + "," + task + "]}}"));
  CHECK(convertJob(head + R"(},"spec":{"plugins":{"mpi":[]},"tasks":[{"name":"worker","template":{"spec":{)"
                          R"("containers":{"a":"b"}}}}]}})"));
  for (const char* spec :
       {R"({"plugins":[],"tasks":[3]})", R"({"tasks":{"a":1},"policies":3})",
        R"({"tasks":[{"policies":[[]],"template":{"spec":[],"metadata":3}}]})", "[]", "null"}) {
    CAPTURE(spec);
    (void)convertJob(head + "},\"spec\":" + spec + "}");  // any text is returned without a crash
  }
}

TEST_CASE("A job of Volcano that is aborted may be resumed") {
  const auto converted = convertJob(
      std::string(
          R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"a"},"status":{"state":{)"
          R"("phase":"Aborted"}},"spec":{"tasks":[{"name":"w","template":)") +
      kPod + "}]}}");
  REQUIRE(converted);
  CHECK(read(*converted).spec.run.suspend);
}

TEST_CASE("The framework is found by whole words of the runtime's name") {
  const auto framework = [](const std::string& runtime) {
    return convertJob(
               R"({"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"a"},"spec":)"
               R"({"runtimeRef":{"name":")" +
               runtime + R"("},"trainer":{"image":"i"}}})")
        .value()
        .json;
  };
  CHECK(framework("torch-compile").find(R"("framework":"PyTorch")") != std::string::npos);
  CHECK(framework("openmpi-distributed").find(R"("framework":"MPI")") != std::string::npos);
  CHECK(framework("jax2").find(R"("framework":"JAX")") != std::string::npos);
}

TEST_CASE("A TrainJob that runs mpirun gets a launcher") {
  const auto converted = convertJob(
      R"({"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"llama"},"spec":{)"
      R"("runtimeRef":{"name":"deepspeed-distributed"},"trainer":{"image":"i","command":["mpirun","t.py"],"numNodes":4,)"
      R"("resourcesPerNode":{"limits":{"nvidia.com/gpu":8}}}}})");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  REQUIRE(job.spec.roles.size() == 2);
  CHECK(job.spec.roles[0].name == "launcher");
  CHECK(job.spec.roles[0].replicas == 1);
  CHECK(job.spec.roles[1].replicas == 4);
  CHECK(converted->json.find(R"("framework":"MPI")") != std::string::npos);
  CHECK(notes(*converted, "role launcher"));
}

TEST_CASE("Template fields that the operator would refuse are removed and noted") {
  const auto converted = convertJob(
      R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"bert","labels":{)"
      R"("kueue.x-k8s.io/priority-class":"gold"}},"spec":{"elasticPolicy":{"minReplicas":1,"rdzvId":"x"},)"
      R"("pytorchReplicaSpecs":{"Master":{"replicas":0},"Worker":{"replicas":2,"restartPolicy":"Never","template":{)"
      R"("metadata":{"finalizers":["a/b"]},"spec":{"hostname":"h","subdomain":"s","nodeName":"n","priorityClassName":"high",)"
      R"("containers":[{"name":"c","image":"i"}]}}}}}})");
  REQUIRE(converted);
  const model::Job job = read(*converted);
  REQUIRE(job.spec.roles.size() == 1);
  CHECK(converted->json.find(R"("priorityClassName":"high","roles")") != std::string::npos);
  CHECK(converted->json.find(R"("failure":{"maxRestarts":0})") != std::string::npos);
  for (const char* words : {"Master has no replicas", "finalizers", "hostname", "subdomain", "nodeName",
                            "gold", "restartPolicy Never"}) {
    CAPTURE(words);
    CHECK(notes(*converted, words));
  }
}

TEST_CASE("Jobs that have ended or are being deleted are left out") {
  const std::string bert = R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"bert")";
  CHECK(whyLeftOut(bert + R"(},"status":{"conditions":[{"type":"Running","status":"True"}]}})").empty());
  CHECK(whyLeftOut(bert + R"(},"status":{"conditions":[{"type":"Succeeded","status":"True"}]}})") ==
        "PyTorchJob bert has ended: left out");
  CHECK(whyLeftOut(bert + R"(,"deletionTimestamp":"2026-01-01T00:00:00Z"}})") ==
        "PyTorchJob bert is being deleted: left out");
  CHECK_FALSE(whyLeftOut(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"a"},)"
                         R"("status":{"state":{"phase":"Completed"}}})")
                  .empty());
  CHECK(whyLeftOut(R"({"apiVersion":"v1","kind":"Pod","metadata":{"deletionTimestamp":"x"}})").empty());
}

TEST_CASE("Objects that are no jobs stay as they are") {
  CHECK(staysAsItIs(R"({"apiVersion":"v1","kind":"ConfigMap"})"));
  CHECK(staysAsItIs(R"({"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy"})"));
  CHECK(staysAsItIs(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue"})"));
  CHECK_FALSE(staysAsItIs(R"({"apiVersion":"kubeflow.org/v1","kind":"MPIJob"})"));
  CHECK_FALSE(staysAsItIs(R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob"})"));
  CHECK_FALSE(staysAsItIs(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet"})"));
  CHECK_FALSE(staysAsItIs(R"({"kind":"ConfigMap"})"));
}

TEST_CASE("An object of another kind is refused with a message") {
  CHECK(convertJob(R"({"apiVersion":"batch/v1","kind":"Job"})").error().message.find("Job of batch cannot") ==
        0);
  CHECK(convertJob(R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob"})").error().code ==
        base::ErrorCode::kInvalid);
  CHECK(convertJob("[]").error().code == base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace trainyard::cli
