#include "operator/console/trials.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "operator/console/redacted.h"
#include "operator/console/tried_jobs.h"
#include "operator/simulation_json.h"

namespace trainyard::operator_::console {
namespace {

// 0 for an empty text; -1 for text that is not a number, which every bounds check refuses.
int numberOf(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : text.empty() ? 0 : -1;
}

}  // namespace

// Shared by all steps: copying the body for each would be most of a request's cost.
struct Trials::SentJobs {
  std::string json;
  std::shared_ptr<void> counts;  // counts the body against the server's maxBodiesBytes
};

void Trials::answerWhatIf(const ExchangePtr& exchange, const std::string& token, const Query& query) {
  WhatIfJob whatIfJob{.ns = valueOf(query, "namespace"), .queue = valueOf(query, "queue")};
  whatIfJob.members = numberOf(valueOf(query, "members"));
  whatIfJob.gpus = numberOf(valueOf(query, "gpus"));
  whatIfJob.level = valueOf(query, "level");
  whatIfJob.priority = valueOf(query, "priority");
  whatIfJob.preemptible = valueOf(query, "preemptible") == "true";
  whatIfJob.hours = numberOf(valueOf(query, "hours"));
  if (!plainName(whatIfJob.ns))
    return exchange->reply(refusal(400, "namespace: is missing, or not a valid name"));
  callers_.identify(exchange, token, {whatIfJob.ns}, [this, exchange, whatIfJob](const Viewer& viewer) {
    if (!viewer.sees(whatIfJob.ns))
      return exchange->reply(refusal(403, "namespace: you may not read TrainingJobs there"));
    tryWhatIf(exchange, whatIfJob, viewer);
  });
}

void Trials::tryWhatIf(const ExchangePtr& exchange, const WhatIfJob& whatIfJob, const Viewer& viewer) {
  const auto job = jobOf(whatIfJob, facts_.current().snapshot.now);
  if (!job) return exchange->reply(refusal(400, job.error().message));
  Turn turn = runner_.turnOf(exchange, viewer);
  if (!turn) return;
  runner_.run(exchange, std::move(turn),
              [viewer, namespaces = facts_.current().namespaces, job = *job](core::CycleInput input) {
                // The console made the template, so it needs no check.
                input.feedback[job->key].templateError = "";
                const auto forecast = core::forecast(std::move(input), {job});
                return makeAnswer(200, kJson, describeForecast(forecast.front(), viewer, namespaces));
              });
}

// Identifies the caller and takes its turn before parsing: one body at a time, none of unknown callers.
void Trials::answerSimulate(const ExchangePtr& exchange, const std::string& token,
                            net::ServerRequest request) {
  const auto sent = std::make_shared<const SentJobs>(
      SentJobs{.json = std::move(request.body), .counts = std::move(request.countsBody)});
  callers_.identify(exchange, token, {}, [this, exchange, token, sent](const Viewer& viewer) {
    if (sent->json.size() > kMaxTriedBytes)
      return exchange->reply(refusal(413, "the jobs are too large for one request"));
    Turn turn = runner_.turnOf(exchange, viewer);
    if (!turn) return;
    runner_.offload(
        [this, exchange, token, sent, turn = std::move(turn), alive = alive_]() mutable -> base::Task {
          return [this, exchange, token, sent, namespaces = namespacesOf(sent->json), turn = std::move(turn),
                  alive] {
            if (*alive) admitJobs(exchange, token, sent, namespaces, turn);
          };
        });
  });
}

void Trials::admitJobs(const ExchangePtr& exchange, const std::string& token, const SentJobsPtr& sent,
                       const base::Result<Names>& namespaces, Turn turn) {
  if (!namespaces) return exchange->reply(refusal(400, namespaces.error().message));
  callers_.identify(
      exchange, token, *namespaces,
      [this, exchange, token, sent, asked = *namespaces, turn](const Viewer& viewer) {
        const auto unseen =
            std::find_if(asked.begin(), asked.end(), [&](const std::string& ns) { return !viewer.sees(ns); });
        if (unseen != asked.end())
          return exchange->reply(
              refusal(403, fmt::format("you may not read TrainingJobs in namespace {}", *unseen)));
        // The answer may name jobs of other namespaces.
        callers_.identify(
            exchange, token, facts_.current().jobNamespaces,
            [this, exchange, sent, turn](const Viewer& whole) { tryJobs(exchange, sent, whole, turn); });
      });
}

void Trials::tryJobs(const ExchangePtr& exchange, SentJobsPtr sent, const Viewer& viewer, Turn turn) {
  runner_.run(
      exchange, std::move(turn),
      [sent = std::move(sent), viewer, namespaces = facts_.current().namespaces](core::CycleInput input) {
        const auto jobs = readTriedJobs(sent->json, input);
        if (!jobs)
          return refusal(jobs.error().code == base::ErrorCode::kAlreadyExists ? 409 : 400,
                         jobs.error().message);
        Simulation simulation{.now = input.snapshot.now, .policy = "the operator"};
        for (core::Forecast& each : operator_::tryJobs(std::move(input), *jobs))
          simulation.forecasts.push_back(redacted(std::move(each), viewer, namespaces));
        return makeAnswer(200, kJson, simulationJson(simulation));
      });
}

}  // namespace trainyard::operator_::console
