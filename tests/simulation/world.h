#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "simulation/chaos.h"
#include "simulation/node_constraint_laws.h"
#include "simulation/scenario.h"
#include "simulation/service_laws.h"

namespace trainyard::simulation {

struct RunOptions {
  bool trace = false;  // every call on stderr
  bool log = false;    // the programs' logs
  DrawOptions draw;
  std::shared_ptr<const sim::Registry> types = nullptr;
};

struct RunResult {
  std::vector<std::string> problems;  // empty: the seed passed
  std::uint64_t trace = 0;
  std::uint64_t lines = 0;
  HitTable hits;
  std::string left;  // the final cluster if the seed failed
};

// Runs one seed: builds the cluster, applies the troubles, heals everything, and checks that all jobs reach
// their end.
[[nodiscard]] RunResult runSeed(std::uint64_t seed, const RunOptions& options);

// A scenario in progress.
class World {
 public:
  World(Scenario scenario, const RunOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  RunResult run();

 private:
  using JobPtr = std::shared_ptr<const model::Job>;

  bool build();
  void submit(const JobPlan& plan);
  // trouble.cpp
  void strike(const TroublePlan& trouble);
  void strikeJob(const TroublePlan& trouble);
  void strikeNode(const TroublePlan& trouble);
  // owner_troubles.cpp: jobs whose pods other controllers make
  void strikeOwner(const JobPlan& plan, const TroublePlan& trouble);
  void holdGang(const JobPlan& plan, bool on);
  void scaleOwner(const JobPlan& plan, int pods);
  void deleteOwner(const JobPlan& plan);
  void deleteOwnedPod(const JobPlan& plan, std::uint64_t pick);
  [[nodiscard]] std::vector<std::shared_ptr<const model::Pod>> ownedPods(const JobPlan& plan) const;
  [[nodiscard]] bool ownersAtRest() const;
  void strikeOperator(const TroublePlan& trouble);
  void strikeStarting(const JobPlan& plan, Trouble kind, int looks);
  void strikeResizing(const JobPlan& plan, const TroublePlan& trouble, int looks);
  void scaleJob(const JobPlan& plan, int replicas);
  void deleteJob(const std::string& name);
  void patchJob(const std::string& name, const std::string& patch);
  void foreignPod(int gpus);
  void newQueue(std::uint64_t pick);
  void deleteMember(const model::Uid& job, std::uint64_t pick);
  void takeName(const JobPlan& plan);
  void returnNode(const std::string& name);
  void patchNode(const std::string& name, const std::string& patch, bool status);
  void setTaint(const std::string& name, bool on);
  void pause(int number, base::Instant::duration span);
  void killAndReplace(int number);
  void heal();
  // settle.cpp
  void settle();
  void serve();
  [[nodiscard]] bool atRest() const;
  [[nodiscard]] NodeConstraint nodeConstraintOf(const model::Job& job) const;
  [[nodiscard]] bool fits(const model::Job& job) const;
  [[nodiscard]] bool mayEver(const model::Job& job) const;
  void checkWaiting();
  void checkEnd();
  [[nodiscard]] std::string describeEnd() const;

  [[nodiscard]] const kube::ClusterCache& truth() const { return cluster_->observer().cache(); }
  [[nodiscard]] JobPtr job(const std::string& name) const { return truth().jobs.find({"default", name}); }
  // Its TrainingJob or Gang; null without one.
  [[nodiscard]] JobPtr jobOf(const JobPlan& plan) const { return job(plan.gangName()); }
  void runFor(base::Instant::duration span);
  void problem(std::string text) { result_.problems.push_back(std::move(text)); }

  Scenario scenario_;
  std::shared_ptr<const sim::Registry> types_;
  std::unique_ptr<base::LogSink> log_;
  Trace trace_;
  Chaos chaos_;
  std::unique_ptr<sim::SimulatedCluster> cluster_;
  std::unique_ptr<ProtocolLaws> laws_;
  std::unique_ptr<NodeConstraintLaws> nodeWishes_;
  std::unique_ptr<ServiceLaws> service_;
  std::map<std::string, std::string> goneNodes_;  // name and body of deleted nodes
  std::set<std::string> submitted_;
  std::set<int> paused_;
  std::uint64_t steps_ = 0;
  int foreignPods_ = 0;
  RunResult result_;
};

}  // namespace trainyard::simulation
