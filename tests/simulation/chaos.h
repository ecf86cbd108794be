#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/rng.h"
#include "kube/cluster_cache.h"
#include "sim/api/transport.h"
#include "simulation/faults.h"
#include "simulation/protocol_laws.h"
#include "simulation/trace.h"

namespace trainyard::simulation {

// Decides for every API call of every operator which fault it meets, counts the faults, and reports the
// writers to the laws.
class Chaos final : public sim::FaultPlan {
 public:
  struct World {
    base::Executor& loop;
    std::function<void(const std::string& client)> kill;
    std::function<void(const std::string& client, base::Instant::duration span)> pause;
  };

  Chaos(const FaultOdds& odds, base::Rng rng, Trace& trace)
      : odds_(odds), rng_(rng), trace_(trace), targets_(odds.targets) {}

  // Called before the first request.
  void attach(World world, const kube::ClusterCache& truth, ProtocolLaws& laws);
  // No fault occurs from then on.
  void end() { active_ = false; }
  [[nodiscard]] const HitTable& hits() const { return hits_; }

  sim::RequestFault beforeRequest(const sim::FaultPoint& point) override;
  bool loseReply(const sim::FaultPoint& point, const net::HttpResponse& response) override;
  sim::StreamFault beforeLine(const sim::FaultPoint& point, const std::string& line) override;

 private:
  [[nodiscard]] Step stepOf(const net::HttpRequest& request);
  [[nodiscard]] std::optional<Fault> draw(Step step, bool line);
  [[nodiscard]] std::optional<Fault> target(Step step, bool line);
  [[nodiscard]] bool affordable(Fault fault) const;
  [[nodiscard]] sim::RequestFault apply(Fault fault, const sim::FaultPoint& point);
  void crash(const std::string& client);
  [[nodiscard]] std::chrono::microseconds span(int lowMs, int highMs);

  FaultOdds odds_;
  base::Rng rng_;
  Trace& trace_;
  std::unique_ptr<World> world_;
  const kube::ClusterCache* truth_ = nullptr;
  ProtocolLaws* laws_ = nullptr;
  bool active_ = true;
  std::vector<FaultTarget> targets_;  // remaining; the occurrence counts down
  HitTable hits_;
  std::map<std::string, Step> readSteps_;  // of targets, which may repeat
  std::set<std::string> dead_;             // clients with a dead or dying process
  std::set<std::string> crashAfter_;       // clients that crash after the next answer
};

}  // namespace trainyard::simulation
