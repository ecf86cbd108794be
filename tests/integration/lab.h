#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "sim/cluster/cluster.h"

namespace trainyard::test {

using namespace std::chrono_literals;

struct GangSpec {
  int workers = 4;
  int gpus = 8;
  std::string runFor = "5s";  // empty: until it is deleted
  int exitCode = 0;
  std::string leaveFor = {};  // that a member takes to leave which is told to
  std::string log = {};       // what its members say before they end
  std::string extra = {};     // further members of spec, as JSON: `"locality":{…}`
};

// A simulated cluster that one test plays with. Its log goes to standard error when TRAINYARD_SIM_LOG is set
// ("debug", "info", …).
class Lab {
 public:
  explicit Lab(sim::ClusterOptions options = {}, int nodes = 6,
               const sim::NodeShape& shape = {.nodesInRack = 8});

  sim::SimulatedCluster& cluster() { return *cluster_; }
  sim::SimulatedCluster* operator->() { return cluster_.get(); }

  // A TrainingJob in namespace default; fails the test when the API server refuses it.
  void submit(const std::string& name, const GangSpec& spec = {});
  // A plain GPU pod of nobody's. False when the API server refuses it.
  bool stranger(const std::string& name, int gpus, const std::string& runFor = "",
                const std::string& node = "");
  void deleteJob(const std::string& name);
  void deletePod(const std::string& name);
  void patchJob(const std::string& name, const std::string& mergePatch);

  [[nodiscard]] std::shared_ptr<const model::Job> job(const std::string& name) const;
  [[nodiscard]] std::string phase(const std::string& name) const;  // "" when there is no such job
  [[nodiscard]] std::vector<std::shared_ptr<const model::Pod>> podsOf(const std::string& name) const;
  [[nodiscard]] std::size_t boundPodsOf(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& path);

  bool waitPhase(const std::string& name, std::string_view phase, base::Instant::duration limit = 120s);
  bool waitGone(const std::string& name, base::Instant::duration limit = 120s);
  // False when it does not come true in time; the state of the cluster is then part of the test's next
  // message.
  bool until(const std::function<bool()>& done, base::Instant::duration limit = 120s);
  void run(base::Instant::duration span) { cluster_->runFor(span); }

  // Requires that nothing has been violated so far.
  void requireSound();
  // Requires that nothing is left of jobs that are gone, nor any proposal.
  void requireTidy();
  // What every job and pod looks like, for the message of a failing test.
  [[nodiscard]] std::string describe() const;

 private:
  std::unique_ptr<base::LogSink> log_;
  std::unique_ptr<sim::SimulatedCluster> cluster_;
};

}  // namespace trainyard::test
