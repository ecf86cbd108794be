#include "codec/progress_status.h"

#include <algorithm>

namespace trainyard::codec {
namespace {

// Rounded down, so that 100 is reported only for completed work.
std::optional<std::int64_t> percentageOf(const model::Progress& progress) {
  if (!progress.totalSteps || *progress.totalSteps <= 0) return std::nullopt;
  const double share = static_cast<double>(progress.step) / static_cast<double>(*progress.totalSteps);
  return progress.step >= *progress.totalSteps
             ? 100
             : std::clamp<std::int64_t>(static_cast<std::int64_t>(share * 100), 0, 99);
}

void writeNumber(JsonWriter& out, std::string_view name, const std::optional<std::int64_t>& value) {
  if (value) out.member(name, *value);
}

std::optional<std::int64_t> readNumber(const Field& field) {
  if (!field.present()) return std::nullopt;
  return field.integer(0, 0, INT64_MAX);
}

}  // namespace

void writeProgress(const model::Progress& progress, JsonWriter& out) {
  out.key("progress").beginObject();
  writeNumber(out, "percentage", percentageOf(progress));
  out.member("step", progress.step);
  writeNumber(out, "totalSteps", progress.totalSteps);
  if (const auto& milli = progress.milliSamplesPerSecond) {
    out.member("samplesPerSecond", *milli / 1000);
    out.member("milliSamplesPerSecond", *milli);
  }
  writeNumber(out, "estimatedRemainingSeconds", progress.remainingSeconds);
  writeNumber(out, "noiseSamples", progress.noiseSamples);
  if (progress.replicas > 0) out.member("replicas", progress.replicas);
  if (progress.slowestRank >= 0) {
    out.key("slowest").beginObject().member("rank", progress.slowestRank);
    out.member("slowdownPermille", progress.slowdownPermille).endObject();
  }
  if (!progress.metrics.empty()) {
    out.key("metrics").beginArray();
    for (const auto& [name, value] : progress.metrics)
      out.beginObject().member("name", name).member("value", value).endObject();
    out.endArray();
  }
  if (progress.lastCheckpoint) out.member("lastCheckpointTime", base::formatTime(*progress.lastCheckpoint));
  if (progress.at != base::WallTime{}) out.member("lastReportTime", base::formatTime(progress.at));
  out.endObject();
}

std::optional<model::Progress> readProgress(const Field& field) {
  if (!field.present()) return std::nullopt;
  model::Progress progress;
  progress.step = field["step"].integer(0, 0, INT64_MAX);
  progress.totalSteps = readNumber(field["totalSteps"]);
  progress.milliSamplesPerSecond = readNumber(field["milliSamplesPerSecond"]);
  progress.remainingSeconds = readNumber(field["estimatedRemainingSeconds"]);
  progress.noiseSamples = readNumber(field["noiseSamples"]);
  progress.replicas = field["replicas"].smallInteger(0, 0);
  if (const Field slowest = field["slowest"]; slowest.present()) {
    progress.slowestRank = slowest["rank"].smallInteger(-1, 0);
    progress.slowdownPermille = slowest["slowdownPermille"].smallInteger(0, 0);
  }
  field["metrics"].forEachElement([&](const Field& each) {
    progress.metrics.emplace_back(each["name"].string(), each["value"].string());
  });
  progress.lastCheckpoint = field["lastCheckpointTime"].time();
  progress.at = field["lastReportTime"].time().value_or(base::WallTime{});
  return progress;
}

}  // namespace trainyard::codec
