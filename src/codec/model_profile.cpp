#include "codec/model_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "model/known_models.h"

namespace trainyard::codec {
namespace {

using model::GradientExchange;
using model::ModelProfile;

constexpr std::int64_t kMaxParameters = 100'000'000'000'000;      // 10^14
constexpr std::int64_t kMaxFlops = 1'000'000'000'000'000'000;     // 10^18
constexpr std::int64_t kMaxProfileBytes = 1'000'000'000'000'000;  // 10^15
constexpr std::int64_t kMaxSamples = 1'000'000'000'000'000;
constexpr std::int64_t kMaxBatch = 1'000'000'000;
constexpr std::int64_t kMaxMicros = 100'000'000'000;  // a step of one day
constexpr std::int64_t kMaxMilliSpeed = 1'000'000'000'000'000;
constexpr int kMaxParameterBytes = 64;
constexpr int kMaxLayers = 1'000'000;
constexpr int kMaxWorkers = 10'000;
// The API server checks each number of an object at every write of it: see tests/schemas.py.
constexpr std::size_t kMaxMeasurements = 64;
constexpr std::size_t kMaxNodesOfStep = 256;
constexpr std::size_t kMaxTypes = 32;
// The limit for all measurements together: each node is a term of the fit, which delays a cycle.
constexpr std::size_t kMaxNodes = 4'096;
constexpr int kMicroDigits = 1'000;

constexpr std::array<std::string_view, 17> kFields{"name",
                                                   "parameters",
                                                   "bytesPerParameter",
                                                   "largestTensorBytes",
                                                   "layers",
                                                   "flopsPerSample",
                                                   "batchSize",
                                                   "batchPerWorker",
                                                   "maxBatchPerWorker",
                                                   "samples",
                                                   "sampleBytes",
                                                   "inputBytesPerSecond",
                                                   "synchronous",
                                                   "exchange",
                                                   "speeds",
                                                   "measurements",
                                                   "comment"};
constexpr std::array<std::string_view, 2> kSpeedFields{"gpuType", "samplesPerSecond"};
constexpr std::array<std::string_view, 5> kMeasurementFields{"workersPerNode", "servers", "batchPerWorker",
                                                             "stepMicroseconds", "gpuType"};

template <std::size_t N>
void refuseOthers(const Field& object, const std::array<std::string_view, N>& known) {
  if (!object.present()) return;
  object.forEachMember([&](std::string_view name, const Field& member) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      member.complain("is not a field of a profile");
  });
}

// Programs often write 4.1e9: a number without a fraction is accepted as an integer in any notation.
std::int64_t readWhole(const Field& field, std::int64_t whenAbsent, std::int64_t least, std::int64_t most) {
  if (field.value().type() != JsonType::kReal) return field.integer(whenAbsent, least, most);
  const double number = std::strtod(field.value().minified().c_str(), nullptr);
  if (number != std::floor(number)) {
    field.refuse("expected a whole number");
    return whenAbsent;
  }
  if (number < static_cast<double>(least) || number > static_cast<double>(most)) {
    field.refuse(fmt::format("must be from {} to {}", least, most));
    return whenAbsent;
  }
  return static_cast<std::int64_t>(number);
}

// Reads a number in thousandths, because a speed is measured and rarely whole.
std::int64_t readThousandths(const Field& field, std::int64_t most) {
  const JsonType type = field.value().type();
  if (type != JsonType::kReal && type != JsonType::kInteger) {
    field.present() ? field.refuse("expected a number") : field.complain("is required");
    return 0;
  }
  constexpr double kThousand = 1000;
  const double number = std::strtod(field.value().minified().c_str(), nullptr) * kThousand;
  if (!(number >= 1) || number > static_cast<double>(most)) {
    field.refuse(fmt::format("must be above 0, and {} at most", most / static_cast<std::int64_t>(kThousand)));
    return 0;
  }
  return std::llround(number);
}

GradientExchange readExchange(const Field& field) {
  const std::string_view text = field.text();
  if (text.empty()) return GradientExchange::kByRoles;
  if (text == "AllReduce") return GradientExchange::kAllReduce;
  if (text == "ParameterServers") return GradientExchange::kParameterServers;
  field.refuse("must be one of AllReduce, ParameterServers");
  return GradientExchange::kByRoles;
}

void readSpeeds(const Field& list, ModelProfile& profile) {
  if (!list.present()) return;
  list.forEachElement([&](const Field& each) {
    refuseOthers(each, kSpeedFields);
    profile.speeds.push_back(
        {std::string(each["gpuType"].required()), readThousandths(each["samplesPerSecond"], kMaxMilliSpeed)});
  });
  if (profile.speeds.size() > kMaxTypes)
    list.complain(fmt::format("must not name more than {} types", kMaxTypes));
}

void readMeasurements(const Field& list, ModelProfile& profile) {
  if (!list.present()) return;
  std::size_t nodes = 0;
  list.forEachElement([&](const Field& each) {
    refuseOthers(each, kMeasurementFields);
    model::MeasuredStep step;
    const Field workers = each["workersPerNode"];
    if (!workers.present()) return workers.complain("is required");
    workers.forEachElement(
        [&](const Field& node) { step.workers.push_back(node.smallInteger(1, 1, kMaxWorkers)); });
    if (step.workers.empty() || step.workers.size() > kMaxNodesOfStep)
      workers.complain(fmt::format("needs 1 to {} nodes", kMaxNodesOfStep));
    nodes += step.workers.size();
    step.servers = each["servers"].smallInteger(0, 0, kMaxWorkers);
    step.batchPerWorker = readWhole(each["batchPerWorker"], 0, 1, kMaxBatch);
    if (!each["batchPerWorker"].present()) each["batchPerWorker"].complain("is required");
    step.stepNanos = readWhole(each["stepMicroseconds"], 0, 1, kMaxMicros) * kMicroDigits;
    if (!each["stepMicroseconds"].present()) each["stepMicroseconds"].complain("is required");
    step.gpuType = each["gpuType"].text();
    profile.measurements.push_back(std::move(step));
  });
  if (profile.measurements.size() > kMaxMeasurements)
    list.complain(fmt::format("must not have more than {} steps", kMaxMeasurements));
  if (nodes > kMaxNodes)
    list.complain(fmt::format("must not have more than {} nodes in all, has {}", kMaxNodes, nodes));
}

void addKnown(ModelProfile& profile) {
  const auto known = model::knownModel(profile.name);
  if (!known) return;
  if (profile.parameters == 0) {
    profile.parameters = known->parameters;
    if (profile.largestTensorBytes == 0)
      profile.largestTensorBytes = known->largestTensor * profile.bytesPerParameter;
  }
  if (profile.flopsPerSample == 0) profile.flopsPerSample = known->flopsPerSample;
}

// NaN and Infinity are not JSON, but Python writes them. Returns the field that has one.
std::optional<std::string> fieldOfNaN(std::string_view json) {
  for (const std::string_view word : {"NaN", "Infinity"}) {
    const std::size_t at = json.find(word);
    if (at == std::string_view::npos) continue;
    const std::size_t colon = json.rfind(':', at);
    const std::size_t end = colon == std::string_view::npos ? colon : json.rfind('"', colon);
    const std::size_t begin = end == std::string_view::npos || end == 0 ? end : json.rfind('"', end - 1);
    if (begin == std::string_view::npos || begin >= end) return fmt::format("{} is not a number", word);
    return fmt::format("{}: {} is not a number", json.substr(begin + 1, end - begin - 1), word);
  }
  return std::nullopt;
}

}  // namespace

ModelProfile readModelProfile(const Field& field) {
  ModelProfile profile;
  if (!field.present()) return profile;
  refuseOthers(field, kFields);
  profile.name = field["name"].text();
  profile.parameters = readWhole(field["parameters"], 0, 1, kMaxParameters);
  profile.bytesPerParameter = field["bytesPerParameter"].smallInteger(4, 1, kMaxParameterBytes);
  profile.largestTensorBytes = readWhole(field["largestTensorBytes"], 0, 1, kMaxProfileBytes);
  profile.layers = field["layers"].smallInteger(0, 1, kMaxLayers);
  profile.flopsPerSample = readWhole(field["flopsPerSample"], 0, 1, kMaxFlops);
  profile.batchSize = readWhole(field["batchSize"], 0, 1, kMaxBatch);
  profile.batchPerWorker = readWhole(field["batchPerWorker"], 0, 1, kMaxBatch);
  profile.maxBatchPerWorker = readWhole(field["maxBatchPerWorker"], 0, 1, kMaxBatch);
  profile.samples = readWhole(field["samples"], 0, 1, kMaxSamples);
  profile.sampleBytes = readWhole(field["sampleBytes"], 0, 1, kMaxProfileBytes);
  profile.inputBytesPerSecond = readWhole(field["inputBytesPerSecond"], 0, 1, kMaxProfileBytes);
  profile.synchronous = field["synchronous"].boolean(true);
  profile.exchange = readExchange(field["exchange"]);
  readSpeeds(field["speeds"], profile);
  readMeasurements(field["measurements"], profile);
  addKnown(profile);
  if (profile.batchSize > 0 && profile.batchPerWorker > 0)
    field["batchPerWorker"].complain("must be left out where batchSize is given");
  if (profile.parameters > 0 && profile.largestTensorBytes > profile.parameterBytes()) {
    field["largestTensorBytes"].complain(fmt::format("is {}, more than all parameters take, {}",
                                                     profile.largestTensorBytes, profile.parameterBytes()));
  }
  return profile;
}

base::Result<ModelProfile> decodeModelProfile(std::string_view json, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("{}: {}", file, why));
  };
  const auto document = JsonDocument::parse(json);
  if (!document) return refuse(fieldOfNaN(json).value_or(document.error().message));
  if (document->root().type() != JsonType::kObject) return refuse("expected an object");
  FieldErrors errors;
  ModelProfile profile = readModelProfile(Field(document->root(), errors));
  if (errors.any()) return refuse(errors.first());
  return profile;
}

}  // namespace trainyard::codec
