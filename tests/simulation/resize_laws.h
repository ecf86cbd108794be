#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/executor.h"
#include "net/http.h"
#include "sim/cluster/observer.h"
#include "simulation/faults.h"

namespace trainyard::simulation {

// What must hold for gangs that change their size:
// - members are always 0 to n - 1 of their role, each once
// - a gang has its old size or the one in its proposal, and changes it only by a proposal
// - joining members follow the last one, leaving members are the last ones
// - a member that is dismissed by its membership is leaving its job, and no membership is overtaken by an
//   earlier one
// - a gang with memberships has grown only after all running members have the new one
// - no leaving member is deleted before it was dismissed and had its time, unless it has ended
class ResizeLaws {
 public:
  using Violated = std::function<void(std::string)>;
  ResizeLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated);

  void checkRecord(const model::Job& before, const model::Job& after);
  void sends(Step step, const net::HttpRequest& request);
  void answered(const net::HttpRequest& request, const net::HttpResponse& response);

 private:
  void checkIndices(const model::Job& job);
  void checkProposal(const model::Job& job);
  void checkSize(const model::Job& before, const model::Job& after);
  void checkAllNotified(const model::Job& before, const model::Job& after);

  sim::ClusterObserver& truth_;
  base::Executor& executor_;
  Violated violated_;
  std::map<model::Uid, std::int64_t> notified_;  // generation, by pod
  std::map<model::Uid, std::int64_t> tried_;     // attempted generation, by pod
};

}  // namespace trainyard::simulation
