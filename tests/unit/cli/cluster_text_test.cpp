#include "cli/cluster_text.h"

#include <catch2/catch.hpp>

#include "cli/completion.h"
#include "cli/table.h"
#include "cli/tar.h"
#include "cli/timeline.h"
#include "model/charge.h"

namespace trainyard::cli {
namespace {

using namespace std::chrono_literals;

const base::WallTime kNow{std::chrono::hours(10'000)};

std::shared_ptr<const model::Node> node(const char* name, std::int64_t gpus, bool cordoned = false) {
  model::Node made;
  made.name = model::NodeName(name);
  made.ready = true;
  made.unschedulable = cordoned;
  if (gpus > 0) made.allocatable.setExtended("nvidia.com/gpu", gpus);
  return std::make_shared<const model::Node>(made);
}

std::shared_ptr<const model::Pod> pod(const char* where, const char* owner, std::int64_t gpus) {
  model::Pod made;
  made.node = model::NodeName(where);
  made.controllerUid = model::Uid(owner);
  made.controllerKind = "TrainingJob";
  made.phase = model::PodPhase::kRunning;
  made.shape.requests.setExtended("nvidia.com/gpu", gpus);
  return std::make_shared<const model::Pod>(made);
}

model::Snapshot cluster() {
  model::Snapshot snapshot;
  snapshot.now = kNow;
  snapshot.nodes.push_back(node("n2", 8, true));
  snapshot.nodes.push_back(node("n1", 8));
  snapshot.nodes.push_back(node("cpu", 0));
  model::Job job;
  job.key = {"ml", "bert"};
  job.uid = model::Uid("u1");
  job.created = kNow - 90s;
  job.spec.queue = model::QueueName("vision");
  job.status.phase = "Running";
  snapshot.jobs.push_back(std::make_shared<const model::Job>(job));
  snapshot.pods.push_back(pod("n1", "u1", 6));
  snapshot.pods.push_back(pod("n1", "", 1));
  snapshot.pods.push_back(pod("", "u1", 8));
  return snapshot;
}

TEST_CASE("The table of nodes shows the gangs on each node") {
  CHECK(nodesTable(cluster(), false) ==
        "NODE   TYPE   GPUS   USED   FREE   STATE      GANGS\n"
        "n1     -      8      7      1      Ready      ml/bert, 1 other pod\n"
        "n2     -      8      0      8      cordoned\n"
        "2 nodes, 7 of 16 GPUs used\n"
        "Ready: 1 node, 1 GPU free\n"
        "cordoned: 1 node, 8 GPUs free\n");
  CHECK(nodesTable(cluster(), true).find("cpu ") != std::string::npos);
}

TEST_CASE("The JSON of nodes has the same contents as the table") {
  CHECK(nodesJson(cluster(), false) ==
        R"({"items":[{"name":"n1","gpus":8,"usedGpus":7,"ready":true,"unschedulable":false,"deleting":false,)"
        R"("suspected":false,"trainingJobs":[{"namespace":"ml","name":"bert"}],"otherPods":1},)"
        R"({"name":"n2","gpus":8,"usedGpus":0,"ready":true,"unschedulable":true,"deleting":false,)"
        R"("suspected":false,"trainingJobs":[],"otherPods":0}],"gpus":16,"usedGpus":7})"
        "\n");
  CHECK(nodesJson(cluster(), true).find(R"("name":"cpu")") != std::string::npos);
}

TEST_CASE("Queues and jobs are listed with the GPUs that they hold") {
  model::Snapshot snapshot = cluster();
  CHECK(topTable(snapshot, 5).find("No job is placed.") != std::string::npos);
  model::Job job = *snapshot.jobs[0];
  model::Role role;
  role.name = "worker";
  role.replicas = 1;
  role.shape.requests.setExtended("nvidia.com/gpu", 8);
  job.spec.roles = {role};
  job.status.gang.placed = model::Placed{
      .epoch = 1,
      .assignments = {{.node = model::NodeName("n1"), .role = "worker", .indices = model::IndexSet({0})}}};
  snapshot.jobs.edit()[0] = std::make_shared<const model::Job>(job);
  CHECK(topTable(snapshot, 5) ==
        "QUEUE    GPUS   OF ALL   PLACED   WAITING\n"
        "vision   8      50 %     1        0\n"
        "\n"
        "JOB       QUEUE    GPUS   PHASE     AGE\n"
        "ml/bert   vision   8      Running   90s\n");
  CHECK(topJson(snapshot, 5) ==
        R"({"items":[{"namespace":"ml","name":"bert","queue":"vision","phase":"Running","gpus":8,)"
        R"("creationTimestamp":")" +
            base::formatTime(job.created) +
            R"("}],"placed":1,"queues":[{"name":"vision","gpus":8,"placed":1,"waiting":0}],"gpus":16})"
            "\n");
}

TEST_CASE("Jobs count in the queue of their namespace's label and above it and wait only when admitted") {
  model::Snapshot snapshot;
  snapshot.now = kNow;
  snapshot.nodes.push_back(node("n1", 8));
  const auto addQueue = [&](const char* name, const char* parent) {
    model::Queue made;
    made.name = model::QueueName(name);
    made.parent = model::QueueName(parent);
    snapshot.queues.push_back(std::make_shared<const model::Queue>(made));
  };
  addQueue("org", "");
  addQueue("team-b", "org");
  model::Namespace space;
  space.name = "ml-b";
  const std::vector<std::pair<std::string, std::string>> labels = {{"trainyard.dev/default-queue", "team-b"}};
  space.labels = model::Labels(labels);
  snapshot.namespaces.push_back(std::make_shared<const model::Namespace>(space));
  const auto addJob = [&](const char* name, const char* queue, bool placed, bool admitted) {
    model::Job job;
    job.key = {"ml-b", name};
    job.uid = model::Uid(name);
    job.spec.queue = model::QueueName(queue);
    model::Role role;
    role.name = "worker";
    role.replicas = 1;
    role.shape.requests.setExtended("nvidia.com/gpu", 4);
    job.spec.roles = {role};
    if (placed) {
      job.status.gang.placed = model::Placed{
          .epoch = 1,
          .assignments = {
              {.node = model::NodeName("n1"), .role = "worker", .indices = model::IndexSet({0})}}};
      job.status.gang.charge = model::makeCharge(job.spec, model::QueueName("team-b"), 0);
    } else {
      job.status.pending.emplace();
      model::Condition condition;
      condition.type = "Admitted";
      condition.status = admitted ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse;
      job.status.conditions.push_back(condition);
    }
    snapshot.jobs.push_back(std::make_shared<const model::Job>(job));
  };
  addJob("a", "default", true, true);
  addJob("b", "default", false, true);
  addJob("c", "team-x", false, false);
  const std::string text = topTable(snapshot, 5);
  CHECK(text ==
        "QUEUE    GPUS   OF ALL   PLACED   WAITING\n"
        "org      4      50 %     1        1\n"
        "team-b   4      50 %     1        1\n"
        "\n"
        "JOB      QUEUE    GPUS   PHASE   AGE\n"
        "ml-b/a   team-b   4              416d\n");
}

TEST_CASE("A watched text is new only if more than ages differ") {
  const std::string first = formatTable({{"JOB", "AGE"}, {"a", "9s"}, {"bert", "59m"}});
  const std::string later = formatTable({{"JOB", "AGE"}, {"a", "2m"}, {"bert", "1h59m"}});
  CHECK(withoutAges(first) == withoutAges(later));
  CHECK(withoutAges(first) != withoutAges(formatTable({{"JOB", "AGE"}, {"a", "9s"}, {"gpt", "59m"}})));
}

TEST_CASE("A timeline lists a job's history in order") {
  const std::string job =
      R"({"metadata":{"namespace":"ml","name":"bert","uid":"u2","creationTimestamp":"2026-01-01T10:00:00Z"},"status":{"conditions":[
        {"type":"Queued","status":"True","reason":"WaitingForTopology","message":"needs 4","lastTransitionTime":"2026-01-01T10:00:01Z"}],
        "pending":{"estimatedStartTime":"2026-01-01T12:00:00Z","message":"needs 4"}}})";
  const std::string events =
      R"({"items":[{"eventTime":"2026-01-01T10:00:05.123456Z","reason":"Aborted","message":"again","series":{"count":3}},
        {"firstTimestamp":"2026-01-01T09:00:00Z","reason":"OfAnother","involvedObject":{"uid":"u1"}},
        {"firstTimestamp":"2026-01-01T09:59:59Z","reason":"Early","involvedObject":{"uid":"u2"}}]})";
  const auto text = timelineText(job, events);
  REQUIRE(text);
  CHECK(*text ==
        "TIME                   WHAT                          WHY\n"
        "2026-01-01T09:59:59Z   Early\n"
        "2026-01-01T10:00:00Z   Created\n"
        "2026-01-01T10:00:01Z   Queued (WaitingForTopology)   needs 4\n"
        "2026-01-01T10:00:05Z   Aborted (3 times)             again\n"
        "2026-01-01T12:00:00Z   expected start                needs 4\n");
  CHECK_FALSE(timelineText("no", "{}"));
  CHECK(
      timelineJson(job, events)
          .value()
          .starts_with(
              R"({"namespace":"ml","name":"bert","moments":[{"time":"2026-01-01T09:59:59Z","what":"Early","message":""},)"));
}

TEST_CASE("Shell completions contain every command and flag") {
  const std::vector<CompletedCommand> commands = {{"status", "it's here", {"--namespace", "--watch"}},
                                                  {"top", "", {}}};
  const std::string bash = bashCompletion("trainyard", commands);
  CHECK(bash.find("words='status top'") != std::string::npos);
  CHECK(bash.find("status) words='--namespace --watch' ;;") != std::string::npos);
  CHECK(bash.find("complete -o default -F _trainyard trainyard\n") != std::string::npos);
  CHECK(zshCompletion("trainyard", commands).find("bashcompinit") != std::string::npos);
  CHECK(fishCompletion("trainyard", commands).find("-a status -d 'it'\\''s here'") != std::string::npos);
}

TEST_CASE("An archive has the format that tar reads") {
  const std::string tar = tarOf({{"a/b.txt", "hello"}, {"c", std::string(512, 'x')}}, 0);
  CHECK(tar.size() == 512 * (1 + 1 + 1 + 1 + 2));
  CHECK(tar.substr(0, 7) == "a/b.txt");
  CHECK(tar.substr(257, 5) == "ustar");
  CHECK(tar.substr(512, 5) == "hello");
}

}  // namespace
}  // namespace trainyard::cli
