// One snapshot, one cycle of the pure core.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "codec/job.h"
#include "codec/node.h"
#include "codec/pod.h"
#include "codec/priority_class.h"
#include "codec/queue.h"
#include "core/cycle/cycle.h"
#include "model/gang_size.h"
#include "scenario/scenario_objects.h"
#include "scenario/scenario_outcome.h"
#include "support/builders.h"

namespace trainyard::test {
namespace {

template <typename T>
T need(base::Result<T> decoded) {
  if (!decoded) refuse(decoded.error().message);
  return *std::move(decoded);
}

model::Pod podOf(const PodText& text) {
  model::Pod pod = need(codec::decodePod(podJson(text)));
  pod.uid = model::Uid("uid-" + text.name);
  if (text.terminating) {
    pod.terminating = true;
    pod.deletionTime = at(0);
  }
  return pod;
}

class Moment {
 public:
  explicit Moment(const Scenario& scenario) {
    const model::Policy policy = policyOf(scenario);
    builder_.now(scenario.now);
    for (const Step& step : scenario.steps) {
      try {
        std::visit([&](const auto& what) { add(what); }, step.what);
      } catch (const Nonsense& nonsense) {
        refuse(fmt::format("{}:{}: {}", scenario.file, step.line, nonsense.what));
      }
    }
    snapshot_ = builder_.build();
    for (const auto& [name, space] : namespaces_) snapshot_.namespaces.push_back(space);
    snapshot_.policy = policy;
  }

  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }

  // Returns the outcomes of all jobs by name, after one cycle in which all templates are known to be valid.
  std::map<std::string, Expectation> run() const {
    core::CycleInput input;
    input.snapshot = snapshot_;
    input.term = 1;
    for (const auto& job : snapshot_.jobs) {
      core::JobFeedback feedback;
      feedback.templateError = "";
      feedback.auxiliariesReady = true;
      input.feedback.emplace(job->key, std::move(feedback));
    }
    std::map<std::string, Expectation> outcomes;
    for (const auto& job : snapshot_.jobs)
      outcomes.emplace(fmt::to_string(job->key), outcomeOf(*job, job->status));
    for (const core::JobDecision& decision : core::cycle(input).decisions) {
      if (!decision.status) continue;
      outcomes[fmt::to_string(decision.job->key)] = outcomeOf(*decision.job, *decision.status);
    }
    return outcomes;
  }

 private:
  void add(const NodeText& text) {
    model::Node node = need(codec::decodeNode(nodeJson(text)));
    node.uid = model::Uid("uid-" + text.name);
    builder_.add(std::move(node));
  }
  void add(const PodText& text) { builder_.add(podOf(text)); }
  void add(const QueueText& text) { builder_.add(need(codec::decodeQueue(queueJson(text)))); }
  void add(const ClassText& text) {
    const auto made = need(codec::decodePriorityClass(classJson(text)));
    builder_.priorityClass(made.name, made.value, made.globalDefault, made.preempts);
  }
  void add(const NamespaceText& text) {
    namespaces_.emplace(text.name,
                        std::make_shared<const model::Namespace>(model::Namespace{
                            text.name, model::Uid("uid-" + text.name), model::Labels(text.labels)}));
  }
  void add(const DeedText&) {}
  void add(const Expectation&) {}

  void add(const JobText& text) {
    model::Job job = need(codec::decodeJob(jobJson(text)));
    job.uid = model::Uid(fmt::format("uid-{}-{}", job.key.ns, job.key.name));
    job.resourceVersion = "1";
    job.generation = 1;
    job.created = at(text.created);
    if (!text.runs.empty()) makeRun(text, job);
    builder_.add(std::move(job));
  }

  void makeRun(const JobText& text, model::Job& job) {
    const base::WallTime started = at(text.started.value_or(text.created));
    auto& placed = job.status.gang.placed.emplace();
    placed.epoch = job.status.gang.lastEpoch = 1;
    job.status.phase = "Running";
    job.status.startTime = started;
    for (const auto type :
         {model::conditions::kAdmitted, model::conditions::kScheduled, model::conditions::kRunning}) {
      job.status.conditions.push_back(
          {std::string(type), model::ConditionStatus::kTrue, "Scenario", {}, started, 1});
    }
    for (const RunsText& runs : text.runs) {
      placed.assignments.push_back({model::NodeName(runs.node), runs.role, runs.indices});
      PodText pod;
      pod.name = "x/x";
      pod.amounts = text.findRole(runs.role)->amounts;
      for (const auto& [resource, quantity] : runs.amounts) {
        std::erase_if(pod.amounts, [&](const auto& each) { return each.first == resource; });
        pod.amounts.emplace_back(resource, quantity);
      }
      const model::Resources requests = podOf(pod).shape.requests;
      for (const int index : runs.indices.values())
        builder_.add(test::pod("").memberOf(job, runs.role, index).on(runs.node).requests(requests));
    }
    job.status.gpus = model::gangGpus(job.spec, job.status.gang);
  }

  Expectation outcomeOf(const model::Job& job, const model::JobStatus& status) const {
    Expectation outcome;
    outcome.subject = fmt::to_string(job.key);
    if (status.gang.proposal) {
      const model::Proposal& proposal = *status.gang.proposal;
      std::vector<model::NodeName> nodes;
      for (const model::Assignment& each : proposal.add) nodes.push_back(each.node);
      outcome.head = fmt::format("starts in {}", tightest(nodes, snapshot_));
      outcome.body = linesOf(proposal.add);
      for (std::string& line : victimLines(proposal)) outcome.body.push_back(std::move(line));
    } else if (status.pending) {
      outcome.head = fmt::format("waits {}", model::toString(status.pending->reason));
      outcome.body.push_back(status.pending->message);
    } else if (status.gang.placed) {
      outcome.head = "runs";
    } else {
      outcome.head = "is left alone";
    }
    return outcome;
  }

  // Formats "evicts ml/old worker 0-1", by job and role.
  std::vector<std::string> victimLines(const model::Proposal& proposal) const {
    std::map<std::pair<std::string, std::string>, std::vector<int>> victims;
    for (const model::Victim& victim : proposal.victims) {
      for (const auto& pod : snapshot_.pods) {
        if (pod->uid != victim.uid || !pod->member) continue;
        const std::string job = fmt::format("{}/{}", pod->key.ns, pod->member->jobName);
        victims[{job, pod->member->role}].push_back(pod->member->index);
      }
    }
    std::vector<std::string> lines;
    for (auto& [victim, indices] : victims)
      lines.push_back(
          fmt::format("evicts {} {} {}", victim.first, victim.second, model::IndexSet(indices).str()));
    return lines;
  }

  SnapshotBuilder builder_;
  std::map<std::string, std::shared_ptr<const model::Namespace>> namespaces_;
  model::Snapshot snapshot_;
};

}  // namespace

bool runMoment(const Scenario& scenario) {
  const Moment moment(scenario);
  const std::map<std::string, Expectation> outcomes = moment.run();
  bool good = true;
  std::map<std::string, int> mentioned;
  for (const Step& step : scenario.steps) {
    const auto* expected = std::get_if<Expectation>(&step.what);
    if (expected == nullptr) continue;
    ++mentioned[expected->subject];
    const auto actual = outcomes.find(expected->subject);
    if (actual == outcomes.end()) {
      fmt::print("  - expect {}: there is no such job\n", expected->subject);
      good = false;
      continue;
    }
    good = compare(*expected, actual->second) && good;
  }
  for (const auto& [name, actual] : outcomes) {
    if (mentioned.count(name) != 0 || actual.head == "runs") continue;
    good = compare({name, "nothing: the file does not mention it", {}}, actual) && good;
  }
  return good;
}

}  // namespace trainyard::test
