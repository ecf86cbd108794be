#include "codec/progress_report.h"

#include "codec/job.h"
#include "codec/job_status.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

// Any bytes as the end of a running member's log.
void progressReport(std::string_view input) {
  const base::WallTime now{std::chrono::seconds(1'790'000'000)};
  model::Progress progress;
  const codec::LogTail tail = codec::readLogTail(input, base::WallTime::min(), now, progress);
  require(!tail.lastLine || *tail.lastLine <= now, "nothing is said later than now");
  require(tail.reported || progress == model::Progress{}, "without a report nothing is recorded");
  require(progress.step >= 0 && progress.replicas >= 0 && progress.at <= now, "numbers are in their bounds");
  require(!progress.lastCheckpoint || *progress.lastCheckpoint <= now, "no checkpoint is of tomorrow");
  require(progress.metrics.size() <= 32, "figures are few");
  if (!tail.reported) return;
  model::JobStatus status;
  status.progress = progress;
  const auto job = codec::decodeJob(R"({"metadata":{"name":"a","namespace":"b","uid":"u"},"status":)" +
                                    codec::encodeJobStatus(status) + "}");
  require(job.has_value(), "what was taken can be written");
  require(job->status.progress == progress, "and reads as the same");
}

}  // namespace trainyard::fuzz
