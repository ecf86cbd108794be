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

// What holds of gangs that change their size:
//  - members are always 0 to n - 1 of their role, each once
//  - a gang has its old size or the one that its proposal names, and another one only by a proposal
//  - those that join follow the last one, those that leave are the last ones
//  - whoever is told that it does not belong to its job is leaving it, and no later word is overtaken by an
//    earlier one
//  - a gang whose members are told has grown only when all that run know it
//  - nobody who leaves is deleted before he was told and has had his time, unless he has ended
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
  void checkAllTold(const model::Job& before, const model::Job& after);

  sim::ClusterObserver& truth_;
  base::Executor& executor_;
  Violated violated_;
  std::map<model::Uid, std::int64_t> told_;   // generation, by pod
  std::map<model::Uid, std::int64_t> tried_;  // to be told, likewise
};

}  // namespace trainyard::simulation
