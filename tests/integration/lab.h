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
  std::string leaveFor = {};  // the time that a dismissed member takes to leave
  std::string log = {};       // the log of its members before they end
  std::string extra = {};     // further members of spec, as JSON: `"locality":{…}`
};

// A simulated cluster for one test. It logs to standard error if TRAINYARD_SIM_LOG is set ("debug", "info",
// …).
class Lab {
 public:
  explicit Lab(sim::ClusterOptions options = {}, int nodes = 6,
               const sim::NodeShape& shape = {.nodesInRack = 8});

  sim::SimulatedCluster& cluster() { return *cluster_; }
  sim::SimulatedCluster* operator->() { return cluster_.get(); }

  // Creates a TrainingJob in namespace default; fails the test if the API server refuses it.
  void submit(const std::string& name, const GangSpec& spec = {});
  // Creates a foreign GPU pod. Returns false if the API server refuses it.
  bool foreignPod(const std::string& name, int gpus, const std::string& runFor = "",
                  const std::string& node = "");
  void deleteJob(const std::string& name);
  void deletePod(const std::string& name);
  void patchJob(const std::string& name, const std::string& mergePatch);

  [[nodiscard]] std::shared_ptr<const model::Job> job(const std::string& name) const;
  [[nodiscard]] std::string phase(const std::string& name) const;  // "" if there is no such job
  [[nodiscard]] std::vector<std::shared_ptr<const model::Pod>> podsOf(const std::string& name) const;
  [[nodiscard]] std::size_t boundPodsOf(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& path);

  bool waitPhase(const std::string& name, std::string_view phase, base::Instant::duration limit = 120s);
  bool waitGone(const std::string& name, base::Instant::duration limit = 120s);
  // Returns false if `done` is not true in time; the test's next message then includes the state of the
  // cluster.
  bool until(const std::function<bool()>& done, base::Instant::duration limit = 120s);
  void run(base::Instant::duration span) { cluster_->runFor(span); }

  // Requires that no invariant has been violated so far.
  void requireSound();
  // Requires that nothing is left of deleted jobs, and no proposal.
  void requireTidy();
  // Describes every job and pod, for the message of a failing test.
  [[nodiscard]] std::string describe() const;

 private:
  std::unique_ptr<base::LogSink> log_;
  std::unique_ptr<sim::SimulatedCluster> cluster_;
};

}  // namespace trainyard::test
