#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/plan.h"
#include "cli/table.h"
#include "codec/json_writer.h"
#include "model/message_text.h"

namespace trainyard::cli {
namespace {

using core::PlannedShape;

constexpr std::size_t kMaxInJson = 200;
constexpr double kPerThousand = 1000;

std::int64_t gpusOf(const JobShapes& shapes, const PlannedShape& shape) {
  std::int64_t gpus = shapes.planning.roles.workers->shape.requests.gpus() * shape.workers;
  if (shapes.planning.roles.servers != nullptr)
    gpus += shapes.planning.roles.servers->shape.requests.gpus() * shape.servers;
  return gpus;
}

// Returns GPU seconds for a thousand samples; worker seconds for a job without GPUs.
double costOf(const JobShapes& shapes, const PlannedShape& shape) {
  const std::int64_t gpus = gpusOf(shapes, shape);
  const double units = gpus > 0 ? static_cast<double>(gpus) : shape.workers + shape.servers;
  return kPerThousand * units / shape.step.samplesPerSecond();
}

// Returns "4+4+2"; with servers "4+4 / 1+1".
std::string placementText(const PlannedShape& shape) {
  std::string workers;
  std::string servers;
  for (const core::Spread::Part& part : shape.spread.parts) {
    for (const auto& [count, text] : {std::pair(part.workers, &workers), std::pair(part.servers, &servers)}) {
      if (count == 0) continue;
      if (!text->empty()) *text += '+';
      *text += part.nodes == 1 ? fmt::to_string(count) : fmt::format("{}x{}", count, part.nodes);
    }
  }
  return servers.empty() ? workers : fmt::format("{} / {}", workers, servers);
}

// Explains the rank of the shape in the list.
std::string whyOf(const JobShapes& shapes, std::size_t rank) {
  const auto& all = shapes.planning.shapes;
  const PlannedShape& shape = all[rank];
  std::string text = core::stepText(shape.step);
  const double best = all.front().step.samplesPerSecond();
  const double speed = shape.step.samplesPerSecond();
  const double noise = core::rankingNoise(shapes.planning.coefficients);
  if (rank == 0) {
    const auto larger = std::find_if(all.begin() + 1, all.end(), [&](const PlannedShape& each) {
      return each.step.samplesPerSecond() > speed;
    });
    if (larger != all.end()) {
      text +=
          fmt::format("; {} would be {:.1f} % faster, within the noise of {:.1f} %", core::shapeText(*larger),
                      100 * (larger->step.samplesPerSecond() / speed - 1), 100 * noise);
    }
    return text;
  }
  if (speed >= best)
    return text + fmt::format("; no faster than the first beyond the noise of {:.1f} %", 100 * noise);
  return text + fmt::format("; {:.1f} % of the first's speed", 100 * speed / best);
}

void number(codec::JsonWriter& out, std::string_view name, double value) {
  out.key(name).raw(fmt::format("{:.9g}", value));
}

void writeShape(const JobShapes& shapes, std::size_t rank, codec::JsonWriter& out) {
  static constexpr std::array<std::string_view, 4> kLimits{"Compute", "Input", "Network", "LocalExchange"};
  const PlannedShape& shape = shapes.planning.shapes[rank];
  out.beginObject()
      .member("rank", static_cast<std::int64_t>(rank + 1))
      .member("workers", shape.workers)
      .member("servers", shape.servers)
      .member("nodes", shape.nodes)
      .key("workersPerNode")
      .beginArray();
  for (const core::Spread::Part& part : shape.spread.parts) {
    for (int i = 0; i < part.nodes && part.workers > 0; ++i) out.integer(part.workers);
  }
  out.endArray().key("serversPerNode").beginArray();
  for (const core::Spread::Part& part : shape.spread.parts) {
    for (int i = 0; i < part.nodes && part.servers > 0; ++i) out.integer(part.servers);
  }
  out.endArray().member("gpus", gpusOf(shapes, shape));
  if (!shape.gpuType.empty()) out.member("gpuType", shape.gpuType);
  number(out, "predictedStepSeconds", shape.step.seconds);
  number(out, "samplesPerSecond", shape.step.samplesPerSecond());
  number(out, "relativeError", shape.step.relativeError);
  number(out, "samplesPerStep", shape.step.samples);
  number(out, "computeSeconds", shape.step.compute);
  number(out, "exchangeSeconds", shape.step.exchange);
  number(out, "inputSeconds", shape.step.input);
  number(out, "gpuSecondsPerThousandSamples", costOf(shapes, shape));
  out.member("limitedBy", kLimits[static_cast<std::size_t>(shape.step.bottleneck)])
      .member("why", whyOf(shapes, rank))
      .endObject();
}

}  // namespace

std::string shapesText(const JobShapes& shapes, std::size_t most) {
  const auto& all = shapes.planning.shapes;
  const PlannedShape& best = all.front();
  std::string text = fmt::format("{}: {}, {:.4g} samples a second.\n", shapes.job.key, core::shapeText(best),
                                 best.step.samplesPerSecond());
  std::vector<std::vector<std::string>> rows{
      {"  WORKERS", "SERVERS", "NODES", "PLACEMENT", "GPU TYPE", "STEP", "SAMPLES/S", "COST", "WHY"}};
  for (std::size_t rank = 0; rank < std::min(most, all.size()); ++rank) {
    const PlannedShape& shape = all[rank];
    rows.push_back({fmt::format("  {}", shape.workers), fmt::to_string(shape.servers),
                    fmt::to_string(shape.nodes), placementText(shape),
                    shape.gpuType.empty() ? "-" : shape.gpuType,
                    fmt::format("{:.4g} s ±{:.0f} %", shape.step.seconds, 100 * shape.step.relativeError),
                    fmt::format("{:.5g}", shape.step.samplesPerSecond()),
                    fmt::format("{:.4g}", costOf(shapes, shape)), whyOf(shapes, rank)});
  }
  text += formatTable(rows);
  if (all.size() > most) text += fmt::format("  … and {} more\n", all.size() - most);
  text += "COST: GPU seconds (without GPUs: seconds of members) for 1,000 samples.\n";
  text += shapes.planning.measured
              ? fmt::format("Fitted to {}; noise of a step {:.1f} %.\n",
                            model::counted(static_cast<std::int64_t>(shapes.profile.measurements.size()),
                                           "measured step"),
                            100 * shapes.planning.coefficients.relativeNoise)
              : "By the model's figures alone: measure a few steps and give them with --measurements.\n";
  return text;
}

std::string shapesJson(const JobShapes& shapes) {
  codec::JsonWriter out;
  out.beginObject().member("job", fmt::to_string(shapes.job.key)).key("candidates").beginArray();
  for (std::size_t rank = 0; rank < std::min(kMaxInJson, shapes.planning.shapes.size()); ++rank)
    writeShape(shapes, rank, out);
  const core::Coefficients& coefficients = shapes.planning.coefficients;
  out.endArray().key("fit").beginObject().member(
      "measuredSteps", static_cast<std::int64_t>(shapes.profile.measurements.size()));
  static constexpr std::array<std::string_view, core::Coefficients::kCount> kNames{
      "fixedSeconds", "secondsPerSample", "wireSeconds", "localSeconds", "hopSeconds"};
  for (std::size_t i = 0; i < kNames.size(); ++i) number(out, kNames[i], coefficients.values[i]);
  number(out, "overlap", coefficients.overlap);
  number(out, "relativeNoise", coefficients.relativeNoise);
  out.endObject().endObject();
  return std::move(out).take() + "\n";
}

}  // namespace trainyard::cli
