#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "core/cycle.h"
#include "kube/api_client.h"
#include "net/server.h"
#include "operator/console/access.h"
#include "operator/console/job_page.h"
#include "operator/console/tenant_queue.h"
#include "operator/console/view.h"
#include "operator/console/what_if_turns.h"

namespace trainyard::operator_::console {

inline constexpr std::size_t kMaxStreams = 32;
inline constexpr std::size_t kMaxStreamsOfTenant = 6;
// Waiting job pages of one tenant, besides the one that reads Events. More are refused.
inline constexpr std::size_t kMaxPagesWaiting = 8;
// A stream that has sent this much ends and the page opens another, which bounds what a slow reader holds.
inline constexpr std::size_t kMaxStreamBytes = std::size_t{8} << 20;

// Serves the page's files to everyone, and to callers with a token:
//   GET /api/stream   server-sent events: each section of view.h when it changes, then `ready`; at most once
//                     a second. `denied` when the token is not valid any more, `trouble` on other errors.
//                     Periodic comments keep proxies from closing the stream.
//   GET /api/job?namespace=&name=      job_page.h
//   GET /api/what-if?namespace=&queue=&members=&gpus=&level=&priority=&preemptible=&hours=
//   POST /api/simulate                 tried_jobs.h; returns forecasts of whole jobs, in the form of
//                                      operator/simulation_json.h
// Each tenant (tenantOf()) has a share of the streams and one list of Events at a time, and pauses after a
// what-if. Requests of clients that have left are dropped. Returns 401 without a valid token. Returns 404
// both for objects that do not exist and for those that the caller may not see. Computes nothing while no
// client is connected. Lives on the executor's thread.
class Console {
 public:
  struct Dependencies {
    kube::ApiClient& api;  // for reviews and Events; writes nothing else
    base::Executor& executor;
    // Requests a snapshot of the cluster as the operator sees it. The callback runs on `executor`, with
    // nullopt before the operator has read its first lists.
    std::function<void(std::function<void(std::optional<model::Snapshot>)>)> snapshot;
    // Runs long work on another thread, and the task that it returns on `executor`.
    std::function<void(std::function<base::Task()>)> offload;
    core::Settings settings = {};
  };

  explicit Console(Dependencies dependencies)
      : deps_(std::move(dependencies)), access_(deps_.api, deps_.executor), whatIfTurns_(deps_.executor) {}
  ~Console() { *alive_ = false; }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void answer(net::ServerRequest request, std::shared_ptr<net::Exchange> exchange);

  [[nodiscard]] std::size_t streams() const { return streams_.size(); }

 private:
  using ExchangePtr = std::shared_ptr<net::Exchange>;
  using Sections = std::shared_ptr<const std::vector<Section>>;
  using Query = std::vector<std::pair<std::string, std::string>>;
  using Turn = std::shared_ptr<void>;
  struct SentJobs;
  using SentJobsPtr = std::shared_ptr<const SentJobs>;
  struct Stream {
    ExchangePtr exchange;
    std::string token;
    std::string tenant = {};
    Sections sent = nullptr;
    std::size_t bytes = 0;
    bool busy = false;  // a review of rights is under way
    base::Instant lastWrite{};
  };
  using StreamPtr = std::shared_ptr<Stream>;

  void withFacts(std::function<void(bool)> then);
  void takeSnapshot(std::optional<model::Snapshot> snapshot);
  void withViewer(const ExchangePtr& exchange, const std::string& token, Names namespaces,
                  std::function<void(const Viewer&)> then);
  void openStream(const ExchangePtr& exchange, const std::string& token);
  void admitStream(const StreamPtr& stream, const Viewer& viewer);
  void tick();
  void feed(const StreamPtr& stream);
  void send(Stream& stream, const Viewer& viewer);
  void keepAlive(Stream& stream);
  void close(const StreamPtr& stream, std::string_view event, std::string_view why);
  [[nodiscard]] Sections sectionsFor(const Viewer& viewer);
  void answerJob(const ExchangePtr& exchange, const std::string& token, const Query& query);
  void listEvents(const std::string& ns, const std::string& name,
                  std::function<void(const std::string&)> then);
  void answerWhatIf(const ExchangePtr& exchange, const std::string& token, const Query& query);
  void tryWhatIf(const ExchangePtr& exchange, const WhatIfJob& whatIfJob, const Viewer& viewer);
  void answerSimulate(const ExchangePtr& exchange, const std::string& token, net::ServerRequest request);
  void admitJobs(const ExchangePtr& exchange, const std::string& token, const SentJobsPtr& sent,
                 const base::Result<Names>& namespaces, Turn turn);
  void tryJobs(const ExchangePtr& exchange, SentJobsPtr sent, const Viewer& viewer, Turn turn);
  [[nodiscard]] Turn turnOf(const ExchangePtr& exchange, const Viewer& viewer);
  void tryOut(const ExchangePtr& exchange, Turn turn,
              std::function<net::HttpResponse(core::CycleInput)> work);

  Dependencies deps_;
  Access access_;
  Facts facts_;
  bool known_ = false;
  bool asking_ = false;
  base::Instant factsAt_{};
  base::Instant countedAt_{};
  std::vector<std::function<void(bool)>> waiting_;
  std::vector<std::pair<Viewer, Sections>> described_;  // for the current facts_
  std::list<StreamPtr> streams_;
  bool ticking_ = false;
  TenantQueue eventTurns_{kMaxPagesWaiting};
  WhatIfTurns whatIfTurns_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
