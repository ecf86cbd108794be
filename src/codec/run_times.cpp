#include "codec/run_times.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "codec/field.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {
namespace {

constexpr std::int64_t kLatest = 253'402'300'799;  // the year 9999
constexpr std::int64_t kLongest = 1'000'000'000;   // 31 years

std::string textOf(const model::RunTimes& times) {
  JsonWriter json;
  json.beginObject();
  for (const auto& [kind, runs] : times.kinds) {
    json.key(kind).beginArray();
    for (const model::PastRun& run : runs) {
      const auto submitted = std::chrono::floor<std::chrono::seconds>(run.submitted.time_since_epoch());
      json.beginArray().integer(submitted.count()).integer(run.ran.count()).integer(run.job).endArray();
    }
    json.endArray();
  }
  json.endObject();
  return std::move(json).take();
}

std::vector<model::PastRun> readRuns(const Field& list) {
  std::vector<model::PastRun> runs;
  list.forEachElement([&](const Field& run) {
    constexpr std::array<std::int64_t, 3> kMax{kLatest, kLongest, std::numeric_limits<std::uint32_t>::max()};
    std::array<std::int64_t, 3> numbers{};
    std::size_t count = 0;
    run.forEachElement([&](const Field& number) {
      if (count < kMax.size()) numbers[count] = number.integer(-1, 0, kMax[count]);
      ++count;
    });
    if (count != kMax.size()) return run.complain("must be three numbers: submitted, ran, job");
    if (std::find(numbers.begin(), numbers.end(), -1) != numbers.end()) return;
    runs.push_back({base::WallTime(std::chrono::seconds(numbers[0])), std::chrono::seconds(numbers[1]),
                    static_cast<std::uint32_t>(numbers[2])});
  });
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace

std::string encodeRunTimes(std::string_view name, const model::RunTimes& times) {
  JsonWriter json;
  json.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap");
  json.key("metadata").beginObject().member("name", name).endObject();
  json.key("data").beginObject().member("runs", textOf(times)).endObject().endObject();
  return std::move(json).take();
}

std::string encodeRunTimesPatch(std::string_view resourceVersion, const model::RunTimes& times) {
  JsonWriter json;
  json.beginObject().key("metadata").beginObject().member("resourceVersion", resourceVersion).endObject();
  json.key("data").beginObject().member("runs", textOf(times)).endObject().endObject();
  return std::move(json).take();
}

base::Result<StoredRunTimes> decodeRunTimes(std::string_view json) {
  const auto document = JsonDocument::parse(json);
  if (!document) return base::fail(document.error());
  FieldErrors errors;
  const Field root(document->root(), errors);
  StoredRunTimes stored;
  stored.resourceVersion = root["metadata"]["resourceVersion"].required();
  const std::string text = root["data"]["runs"].string();
  if (errors.any()) return base::fail(base::ErrorCode::kInvalid, "ConfigMap: " + errors.first());
  if (text.empty()) return stored;
  const auto runs = JsonDocument::parse(text);
  if (!runs) {
    stored.complaint = "data.runs: " + runs.error().message;
    return stored;
  }
  const Field kinds(runs->root(), errors, "data.runs");
  kinds.forEachMember([&](std::string_view kind, const Field& list) {
    if (auto read = readRuns(list); !read.empty()) stored.times.kinds[std::string(kind)] = std::move(read);
  });
  // An unreadable entry discards only itself, not the other kinds.
  if (errors.any()) stored.complaint = errors.first();
  return stored;
}

}  // namespace trainyard::codec
