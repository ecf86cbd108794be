#include "telemetry/monitoring.h"

#include <chrono>
#include <utility>

#include "telemetry/process_metrics.h"

namespace trainyard::telemetry {

void Monitoring::noteRequest(std::string_view verb, int status, base::Instant::duration took) {
  apiMetrics_.note(verb, status, std::chrono::duration<double>(took).count());
}

void Monitoring::start(std::string_view version, base::Instant::duration loopBeat) {
  registry_.setBuildInfo(version);
  addProcessMetrics(registry_);
  loopWatch_ = std::make_unique<LoopWatch>(registry_, loop_, loopBeat);
}

void Monitoring::requireBeats(base::Instant::duration every, base::Error error) {
  health_.addLivenessCheck("loop", [this, every, error = std::move(error)]() -> base::Result<void> {
    if (loop_.now() - lastBeat_.load() < every) return {};
    return base::fail(error);
  });
}

base::Result<void> Monitoring::serve(const MetricsServerOptions& options, kube::ApiClient& api,
                                     const base::Logger& log) {
  auto server = MetricsServer::start(options, {registry_, health_, api, loop_, log.named("metrics")});
  if (!server) return base::fail(server.error());
  server_ = std::move(*server);
  return {};
}

}  // namespace trainyard::telemetry
