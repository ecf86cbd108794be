#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "base/event_loop.h"
#include "telemetry/api_metrics.h"
#include "telemetry/health.h"
#include "telemetry/loop_watch.h"
#include "telemetry/metrics.h"
#include "telemetry/metrics_server.h"

namespace trainyard::telemetry {

// What a program exports about itself: metrics, health checks, and the port that serves both. Lives on the
// thread of `loop`.
class Monitoring {
 public:
  explicit Monitoring(base::EventLoop& loop) : loop_(loop) {}
  Monitoring(const Monitoring&) = delete;
  Monitoring& operator=(const Monitoring&) = delete;

  [[nodiscard]] MetricsRegistry& registry() { return registry_; }
  [[nodiscard]] Health& health() { return health_; }
  // Observes a request to the API server (kube::ConnectionOptions::observe).
  void noteRequest(std::string_view verb, int status, base::Instant::duration took);

  // Adds the metrics that every program has, among them those of its loop.
  void start(std::string_view version, base::Instant::duration loopBeat = LoopWatch::kBeat);
  // The program is alive while beat() is called at least this often; otherwise the check reports `error`.
  void requireBeats(base::Instant::duration every, base::Error error);
  void beat() { lastBeat_.store(loop_.now()); }

  // `api` must outlive the server: call stopServing() before it is destroyed.
  [[nodiscard]] base::Result<void> serve(const MetricsServerOptions& options, kube::ApiClient& api,
                                         const base::Logger& log);
  void stopServing() { server_.reset(); }

 private:
  base::EventLoop& loop_;
  MetricsRegistry registry_;
  ApiMetrics apiMetrics_{registry_};
  std::unique_ptr<LoopWatch> loopWatch_;
  Health health_;
  std::atomic<base::Instant> lastBeat_ = loop_.now();
  std::unique_ptr<MetricsServer> server_;
};

}  // namespace trainyard::telemetry
