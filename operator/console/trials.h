#pragma once

#include <memory>
#include <string>
#include <utility>

#include "net/server.h"
#include "operator/console/answers.h"
#include "operator/console/callers.h"
#include "operator/console/job_page.h"
#include "operator/console/live_facts.h"
#include "operator/console/trial_runner.h"

namespace trainyard::operator_::console {

// Forecasts of jobs that do not exist:
//   GET /api/what-if?namespace=&queue=&members=&gpus=&level=&priority=&preemptible=&hours=
//   POST /api/simulate    tried_jobs.h; returns forecasts of whole jobs, in the form of
//                         operator/simulation_json.h
// Each tenant (tenantOf()) pauses after one.
class Trials {
 public:
  Trials(LiveFacts& facts, Callers& callers, TrialRunner& runner)
      : facts_(facts), callers_(callers), runner_(runner) {}
  ~Trials() { *alive_ = false; }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  void answerWhatIf(const ExchangePtr& exchange, const std::string& token, const Query& query);
  void answerSimulate(const ExchangePtr& exchange, const std::string& token, net::ServerRequest request);

 private:
  using Turn = TrialRunner::Turn;
  struct SentJobs;
  using SentJobsPtr = std::shared_ptr<const SentJobs>;

  void tryWhatIf(const ExchangePtr& exchange, const WhatIfJob& whatIfJob, const Viewer& viewer);
  void admitJobs(const ExchangePtr& exchange, const std::string& token, const SentJobsPtr& sent,
                 const base::Result<Names>& namespaces, Turn turn);
  void tryJobs(const ExchangePtr& exchange, SentJobsPtr sent, const Viewer& viewer, Turn turn);

  LiveFacts& facts_;
  Callers& callers_;
  TrialRunner& runner_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
