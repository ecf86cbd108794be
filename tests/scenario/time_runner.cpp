// The whole operator on the in-memory cluster, under virtual time.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/names.h"
#include "scenario/scenario_objects.h"
#include "scenario/scenario_outcome.h"
#include "sim/api/json.h"
#include "sim/cluster/cluster.h"
#include "support/builders.h"

namespace trainyard::test {
namespace {

using JobPtr = std::shared_ptr<const model::Job>;
using PodPtr = std::shared_ptr<const model::Pod>;

// The time until a leader is elected and nodes are ready; the scenario's time starts then.
constexpr std::chrono::seconds kSettling{5};

std::string pathOf(std::string_view collection, const std::string& name, std::string_view subresource = {}) {
  const model::ObjectKey object = key(name);
  return fmt::format("{}/namespaces/{}/{}/{}{}",
                     collection == "pods" ? "/api/v1" : "/apis/trainyard.dev/v1alpha1", object.ns, collection,
                     object.name, subresource);
}

// Counts evicted pods: alive, of jobs that were meant to continue.
class Evictions {
 public:
  void watch(kube::ClusterCache& cache) {
    cache.pods.onChange([this, &cache](const PodPtr& before, const PodPtr& after) {
      if (!before || !before->member || !before->bound() || before->finished() || before->terminating) return;
      if (after && after->uid == before->uid && !after->terminating) return;
      const JobPtr job = cache.jobs.find({before->key.ns, before->member->jobName});
      if (!job || job->uid != before->controllerUid || job->deleting || job->finished()) return;
      if (job->spec.run.suspend || own_.erase(before->key) != 0) return;
      ++count_;
    });
  }
  // The scenario itself deletes this pod.
  void expectDeletion(const model::ObjectKey& pod) { own_.insert(pod); }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::set<model::ObjectKey> own_;
  int count_ = 0;
};

class World {
 public:
  explicit World(const Scenario& scenario) : scenario_(scenario) {
    sim::ClusterOptions options;
    options.policy = policyOf(scenario);
    if (const char* level = std::getenv("TRAINYARD_SIM_LOG"); level != nullptr) {
      log_ = base::makeStderrSink();
      options.log = log_.get();
      options.logLevel = base::parseLogLevel(level).value_or(base::LogLevel::kInfo);
    }
    auto created = sim::SimulatedCluster::create(options);
    if (!created) refuse(created.error().message);
    cluster_ = std::move(*created);
    evictions_.watch(cache());
    makeNamespaces();
  }

  // Returns false if an expectation was not met.
  bool run() {
    // Everything that the first jobs depend on is created before them.
    for (const Step& step : scenario_.steps) {
      if (step.at.count() == 0 && isSetting(step)) carryOut(step);
    }
    op_ = cluster_->operators().start();
    cluster_->runFor(kSettling);
    start_ = cluster_->loop().now();
    for (const Step& step : scenario_.steps) {
      if (step.at.count() == 0 && isSetting(step)) continue;
      if (start_ + step.at > cluster_->loop().now())
        cluster_->runFor(start_ + step.at - cluster_->loop().now());
      carryOut(step);
    }
    for (const std::string& each : cluster_->invariants().violations()) {
      fmt::print("  + broken invariant: {}\n", each);
      good_ = false;
    }
    return good_;
  }

 private:
  static bool isSetting(const Step& step) {
    return !std::holds_alternative<JobText>(step.what) && !std::holds_alternative<DeedText>(step.what) &&
           !std::holds_alternative<Expectation>(step.what);
  }

  kube::ClusterCache& cache() { return cluster_->observer().cache(); }

  void carryOut(const Step& step) {
    try {
      std::visit([&](const auto& what) { apply(what); }, step.what);
    } catch (const Nonsense& nonsense) {
      refuse(fmt::format("{}:{}: {}", scenario_.file, step.line, nonsense.what));
    }
  }

  // --- events
  // -------------------------------------------------------------------------------------------------

  void give(const std::string& json) {
    if (const auto made = cluster_->create(json); !made) refuse(made.error().message);
  }
  void patch(const std::string& path, const sim::Json& change) {
    const auto done =
        cluster_->request(net::Method::kPatch, path, sim::dumpJson(change), "application/merge-patch+json");
    if (!done) refuse(done.error().message);
  }
  void remove(const std::string& path) {
    const auto done = cluster_->request(net::Method::kDelete, path);
    if (!done && done.error().code != base::ErrorCode::kNotFound) refuse(done.error().message);
  }

  // Creates all namespaces at the beginning: each takes a moment to get its service account.
  void makeNamespaces() {
    std::set<std::string> made;
    const auto make = [&](const NamespaceText& space) {
      if (made.insert(space.name).second && space.name != "default") give(namespaceJson(space));
    };
    for (const Step& step : scenario_.steps) {
      if (const auto* space = std::get_if<NamespaceText>(&step.what)) make(*space);
    }
    for (const Step& step : scenario_.steps) {
      if (const auto* pod = std::get_if<PodText>(&step.what)) make({key(pod->name).ns, {}});
      if (const auto* job = std::get_if<JobText>(&step.what)) make({key(job->name).ns, {}});
    }
    cluster_->runFor(std::chrono::seconds(1));
  }

  void apply(const NodeText& node) {
    if (!node.ready) cluster_->kubelets().setUp(model::NodeName(node.name), false);
    give(nodeJson(node));
  }
  void apply(const PodText& pod) { give(podJson(pod)); }
  void apply(const QueueText& queue) {
    const std::string path = "/apis/trainyard.dev/v1alpha1/queues/" + queue.name;
    const auto there = cluster_->request(net::Method::kGet, path);
    if (!there) return give(queueJson(queue));
    // A second line for the same queue replaces its spec.
    auto now = sim::parseJson(*there);
    const auto wanted = sim::parseJson(queueJson(queue));
    (*now)["spec"] = wanted->at("spec");
    if (const auto put = cluster_->request(net::Method::kPut, path, sim::dumpJson(*now)); !put)
      refuse(put.error().message);
  }
  void apply(const ClassText& text) { give(classJson(text)); }
  void apply(const NamespaceText&) {}
  void apply(const JobText& job) { give(jobJson(job)); }

  void apply(const DeedText& deed) {
    using enum DeedText::Verb;
    const std::string node = "/api/v1/nodes/" + deed.name;
    const auto setJob = [&](const sim::Json& spec) {
      patch(pathOf("trainingjobs", deed.name), {{"spec", spec}});
    };
    switch (deed.verb) {
      case kDeleteJob: return remove(pathOf("trainingjobs", deed.name));
      case kDeletePod: evictions_.expectDeletion(key(deed.name)); return remove(pathOf("pods", deed.name));
      case kDeleteNode: return remove(node);
      case kDeleteQueue: return remove("/apis/trainyard.dev/v1alpha1/queues/" + deed.name);
      case kFinish: return endMembers(deed.name, [](const model::MemberLabels&) { return true; }, 0);
      case kFail: {
        const int index = readInt(deed.rest[1], "fail");
        const auto isIt = [&](const model::MemberLabels& m) {
          return m.role == deed.rest[0] && m.index == index;
        };
        return endMembers(deed.name, isIt, 1);
      }
      case kCordon: return patch(node, {{"spec", {{"unschedulable", true}}}});
      case kUncordon: return patch(node, {{"spec", {{"unschedulable", false}}}});
      case kDown: return cluster_->kubelets().setUp(model::NodeName(deed.name), false);
      case kUp: return cluster_->kubelets().setUp(model::NodeName(deed.name), true);
      case kScale: return setJob({{"elastic", {{"replicas", readInt(deed.rest[0], "scale")}}}});
      case kSuspend: return setJob({{"run", {{"suspend", true}}}});
      case kResume: return setJob({{"run", {{"suspend", false}}}});
      case kPrioritize: return setJob({{"priorityClassName", deed.rest[0]}});
      case kEdit: return setJob(editOf(deed.rest[0]));
      case kRestartOperator:
        cluster_->operators().kill(op_);
        op_ = cluster_->operators().start();
        return;
    }
  }

  static sim::Json editOf(const std::string& word) {
    const auto [name, value] = splitAttribute(word);
    if (name == "queue") return {{"queue", value}};
    if (name == "preemptible") return {{"preemptible", readYesNo(value, name)}};
    refuse(fmt::format("edit: \"{}\": expected queue=NAME or preemptible=yes|no", word));
  }

  template <typename Which>
  void endMembers(const std::string& job, Which which, int exitCode) {
    bool any = false;
    for (const PodPtr& pod : podsOf(job)) {
      if (!pod->bound() || pod->finished() || !which(*pod->member)) continue;
      any = true;
      const std::string now = base::formatTime(cluster_->loop().wallNow());
      const sim::Json ended = {{"exitCode", exitCode},
                               {"reason", exitCode == 0 ? "Completed" : "Error"},
                               {"startedAt", now},
                               {"finishedAt", now}};
      patch(pathOf("pods", fmt::to_string(pod->key), "/status"),
            {{"status",
              {{"phase", exitCode == 0 ? "Succeeded" : "Failed"},
               {"containerStatuses",
                {{{"name", "train"},
                  {"image", "train:1"},
                  {"imageID", ""},
                  {"ready", false},
                  {"restartCount", 0},
                  {"state", {{"terminated", ended}}}}}}}}});
    }
    if (!any) refuse(fmt::format("{} has no such pod that runs", job));
  }

  // --- expectations
  // ---------------------------------------------------------------------------------------------

  void apply(const Expectation& expected) {
    Expectation actual{expected.subject, {}, {}};
    const Words words = splitWords(expected.head);
    if (expected.subject == "evictions") {
      actual.head = fmt::to_string(evictions_.count());
    } else if (const auto queue = after("queue ", expected.subject)) {
      readQueue(*queue, words, actual);
    } else if (const auto pod = after("pod ", expected.subject)) {
      readPod(*pod, actual);
    } else {
      readJob(words, expected, actual);
    }
    if (compare(expected, actual)) return;
    fmt::print("    (after {} s)\n",
               std::chrono::duration_cast<std::chrono::seconds>(cluster_->loop().now() - start_).count());
    good_ = false;
  }

  std::vector<PodPtr> podsOf(const std::string& name) {
    const JobPtr job = cache().jobs.find(key(name));
    std::vector<PodPtr> pods;
    for (const auto& pod : cache().pods.all()) {
      if (job && pod->member && pod->controllerUid == job->uid) pods.push_back(pod);
    }
    return pods;
  }

  void readJob(const Words& words, const Expectation& expected, Expectation& actual) {
    const JobPtr job = cache().jobs.find(key(expected.subject));
    if (!job) {
      actual.head = "is gone";
    } else if (words[0] == "preempted" || words[0] == "not") {
      const int count = job->status.preemptions.count;
      actual.head = words.size() == 1 || words[0] == "not" ? (count > 0 ? "preempted" : "not preempted")
                                                           : fmt::format("preempted {}", count);
    } else if (words[0] == "has" && words.size() > 2 && words[1] == "event") {
      readEvents(*job, words[2], expected, actual);
    } else if (words[0] == "has" && words.size() > 3 && words[1] == "no" && words[2] == "event") {
      readEvents(*job, words[3], expected, actual);
    } else if (words[0] == "has" && words.size() > 3 && words[1] == "condition") {
      readCondition(*job, words, actual);
    } else if (words[0] == "has") {
      const auto pods = podsOf(expected.subject);
      const auto bound = std::count_if(pods.begin(), pods.end(),
                                       [](const PodPtr& pod) { return pod->bound() && !pod->finished(); });
      actual.head = fmt::format("has {} pod{}", bound, bound == 1 ? "" : "s");
    } else {
      readState(*job, words, expected, actual);
    }
  }

  // has condition TYPE STATUS [REASON]
  static void readCondition(const model::Job& job, const Words& words, Expectation& actual) {
    const model::Condition* condition = job.condition(words[2]);
    if (condition == nullptr) {
      actual.head = "has no condition " + words[2];
      return;
    }
    const bool yes = condition->status == model::ConditionStatus::kTrue;
    const bool no = condition->status == model::ConditionStatus::kFalse;
    actual.head = fmt::format("has condition {} {}", words[2], yes ? "True" : no ? "False" : "Unknown");
    if (words.size() > 4) actual.head += " " + condition->reason;
    actual.body = {condition->message};
  }

  // Adds the state, and the placement in the form in which it is expected.
  void readState(const model::Job& job, const Words& words, const Expectation& expected,
                 Expectation& actual) {
    const auto& placed = job.status.gang.placed;
    if (job.finished()) {
      actual.head = "ended " + job.status.phase;
      for (const model::Condition& condition : job.status.conditions) {
        if (condition.type == job.status.phase) actual.body.push_back(condition.message);
      }
      return;
    }
    if (job.status.pending) {
      actual.head = fmt::format("waits {}", model::toString(job.status.pending->reason));
      actual.body.push_back(job.status.pending->message);
      return;
    }
    const bool running = placed && !job.status.gang.proposal && job.status.phase == "Running";
    actual.head =
        running ? "runs" : fmt::format("is {}", job.status.phase.empty() ? "new" : job.status.phase);
    if (!placed || !running) return;
    std::set<model::NodeName> nodes;
    for (const model::Assignment& each : placed->assignments) nodes.insert(each.node);
    if (words.size() > 1 && words[1] == "on") {
      actual.head += " on";
      for (const model::NodeName& node : nodes) actual.head += " " + node.str();
    } else if (words.size() > 1 && words[1] == "in") {
      model::Snapshot snapshot = cluster_->snapshot();
      snapshot.policy = policyOf(scenario_);
      actual.head += " in " + tightest({nodes.begin(), nodes.end()}, snapshot);
    }
    if (!expected.body.empty()) actual.body = linesOf(placed->assignments);
  }

  void readEvents(const model::Job& job, const std::string& reason, const Expectation& expected,
                  Expectation& actual) {
    const auto listed = cluster_->request(
        net::Method::kGet, fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", job.key.ns));
    if (!listed) refuse(listed.error().message);
    const auto events = sim::parseJson(*listed);
    actual.head = "has no event " + reason;
    for (const sim::Json& event : sim::listAt(*events, {"items"})) {
      if (sim::textAt(event, {"reason"}) != reason) continue;
      if (sim::textAt(event, {"regarding", "uid"}) != job.uid.str()) continue;
      actual.head = "has event " + reason;
      actual.body = {sim::textAt(event, {"note"})};
      if (agrees(expected, actual)) return;
    }
  }

  void readPod(const std::string& name, Expectation& actual) {
    const PodPtr pod = cache().pods.find(key(name));
    if (!pod) {
      actual.head = "is gone";
    } else if (pod->finished()) {
      actual.head = "ended";
    } else {
      actual.head = pod->bound() ? fmt::format("runs on {}", pod->node) : "waits";
    }
  }

  // Adds each expected item by name: runs N, waits N, usage gpus=N, …
  void readQueue(const std::string& name, const Words& words, Expectation& actual) {
    int runs = 0;
    int waits = 0;
    for (const JobPtr& job : cache().jobs.all()) {
      if (job->spec.queue.str() != name || job->finished()) continue;
      const bool placed = job->status.gang.placed.has_value();
      runs += placed ? 1 : 0;
      waits += !placed && !job->status.gang.proposal ? 1 : 0;
    }
    const auto queue = cache().queues.find(model::QueueName(name));
    const model::QueueStatus status = queue ? queue->status : model::QueueStatus{};
    const std::map<std::string, std::string> facts = {
        {"runs", fmt::to_string(runs)},
        {"waits", fmt::to_string(waits)},
        {"gpus", fmt::to_string(status.gpus ? status.gpus->used : 0)},
        {"share", fmt::to_string(status.share)},
        {"fair-share", fmt::to_string(status.fairShare)},
        {"waiting", fmt::to_string(status.waiting)},
        {"placed", fmt::to_string(status.placed)}};
    for (std::size_t i = 0; i < words.size(); i += 2) {
      const auto fact = facts.find(words[i]);
      if (fact == facts.end()) refuse(fmt::format("expect queue: \"{}\": unknown", words[i]));
      actual.head += fmt::format("{}{} {}", i == 0 ? "" : " ", words[i], fact->second);
    }
  }

  const Scenario& scenario_;
  std::unique_ptr<base::LogSink> log_;
  std::unique_ptr<sim::SimulatedCluster> cluster_;
  Evictions evictions_;
  int op_ = 0;
  base::Instant start_{};
  bool good_ = true;
};

}  // namespace

bool runInTime(const Scenario& scenario) { return World(scenario).run(); }

}  // namespace trainyard::test
