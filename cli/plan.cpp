#include "cli/plan.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/measurements.h"
#include "codec/job.h"
#include "codec/model_profile.h"
#include "codec/node.h"
#include "codec/yaml_json.h"
#include "core/ledger/ledger.h"
#include "core/planner/hardware.h"
#include "core/queues/queue_tree.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

using base::ErrorCode;
using base::Result;

constexpr int kMaxNodes = 100'000;
constexpr int kMaxGpusOnNode = 64;
constexpr int kMaxGigabits = 100'000;
constexpr std::size_t kMaxFile = 16U << 20U;

Result<const Manifest*> onlyJob(const std::vector<Manifest>& manifests) {
  const Manifest* found = nullptr;
  for (const Manifest& each : manifests) {
    if (each.kind != model::names::kTrainingJobKind) continue;
    if (found != nullptr)
      return base::fail(ErrorCode::kInvalid,
                        each.whereOf("") + ": a second TrainingJob; one is planned at a time");
    found = &each;
  }
  if (found == nullptr) return base::fail(ErrorCode::kInvalid, "the files hold no TrainingJob to plan");
  return found;
}

Result<model::ModelProfile> profileFor(const model::Job& job, const PlanOptions& options) {
  model::ModelProfile profile;
  if (job.spec.plan.profile) profile = *job.spec.plan.profile;
  if (!options.profile.empty()) {
    const auto text = base::readFile(options.profile, kMaxFile);
    if (!text) return base::fail(text.error());
    auto read = codec::decodeModelProfile(*text, options.profile);
    if (!read) return base::fail(read.error());
    profile = std::move(*read);
  }
  if (!options.measurements.empty()) {
    const auto text = base::readFile(options.measurements, kMaxFile);
    if (!text) return base::fail(text.error());
    auto measured = parseMeasurements(*text, options.measurements);
    if (!measured) return base::fail(measured.error());
    profile.measurements = std::move(*measured);
  }
  if (options.batch > 0) profile.batchSize = options.batch;
  if (options.batchPerWorker > 0) {
    profile.batchPerWorker = options.batchPerWorker;
    profile.batchSize = 0;
  } else if (options.batch > 0) {
    profile.batchPerWorker = 0;
  }
  return profile;
}

// Parses a number at the front of the text, and removes it.
std::optional<int> takeNumber(std::string_view& text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// A node that is large enough for GPUs to be the only limit, unless a member requests very much.
model::Node nodeOf(std::size_t number, int gpus, const std::string& type, int gigabits) {
  constexpr std::int64_t kMillicores = 128'000;
  constexpr std::int64_t kMemory = 1LL << 41U;
  constexpr std::int64_t kPods = 250;
  model::Node node;
  node.name = model::NodeName(fmt::format("node-{:05}", number));
  node.ready = true;
  node.allocatable.cpu = {kMillicores};
  node.allocatable.memory = {kMemory};
  node.allocatable.ephemeralStorage = {kMemory};
  node.allocatable.pods = kPods;
  node.allocatable.setExtended(model::names::kGpuResource, gpus);
  std::vector<std::pair<std::string, std::string>> labels;
  if (!type.empty()) labels.emplace_back(model::Policy().gpuTypeLabel, type);
  if (gigabits > 0) labels.emplace_back(std::string(core::kNetworkLabel), fmt::to_string(gigabits));
  node.labels = model::Labels(std::move(labels));
  return node;
}

}  // namespace

Result<JobShapes> planShapes(const std::vector<Manifest>& manifests, const PlanOptions& options,
                             const std::string& ns, const model::Snapshot& snapshot) {
  const auto manifest = onlyJob(manifests);
  if (!manifest) return base::fail(manifest.error());
  auto job = codec::decodeJob((*manifest)->json);
  const auto refuse = [&](const std::string& why) {
    return base::fail(ErrorCode::kInvalid, fmt::format("{}: {}", (*manifest)->whereOf(why), why));
  };
  if (!job) return refuse(job.error().message);
  if (job->key.ns.empty()) job->key.ns = ns;
  if (!job->specError.empty()) return refuse(job->specError);
  auto profile = profileFor(*job, options);
  if (!profile) return base::fail(profile.error());
  const core::Ledger ledger(snapshot);
  const core::QueueTree queues(snapshot);
  core::JobPlanning planning =
      core::planJob(*job, *profile, core::planningCapacity(*job, ledger, queues, snapshot.policy));
  if (!planning.problem.empty()) return refuse(planning.problem);
  return JobShapes{std::move(*job), std::move(planning), std::move(*profile)};
}

Result<std::vector<model::Node>> parseNodes(const std::string& text, std::size_t first) {
  const auto refuse = [&] {
    return base::fail(
        ErrorCode::kInvalid,
        fmt::format("--nodes: must be NODESxGPUS[:TYPE][@GBPS], as 16x4:Tesla-T4@25, is \"{}\"", text));
  };
  std::string_view rest = text;
  const auto count = takeNumber(rest, kMaxNodes);
  if (!count || *count == 0 || !rest.starts_with('x')) return refuse();
  rest.remove_prefix(1);
  const auto gpus = takeNumber(rest, kMaxGpusOnNode);
  if (!gpus) return refuse();
  int gigabits = 0;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    std::string_view speed = rest.substr(at + 1);
    gigabits = takeNumber(speed, kMaxGigabits).value_or(0);
    if (gigabits == 0 || !speed.empty()) return refuse();
    rest = rest.substr(0, at);
  }
  if (!rest.empty() && (!rest.starts_with(':') || rest.size() == 1)) return refuse();
  const std::string type(rest.empty() ? rest : rest.substr(1));
  std::vector<model::Node> nodes;
  for (int i = 0; i < *count; ++i) nodes.push_back(nodeOf(first + nodes.size(), *gpus, type, gigabits));
  return nodes;
}

Result<std::vector<model::Node>> readNodes(const std::string& file) {
  const auto text = base::readFile(file, kMaxFile);
  if (!text) return base::fail(text.error());
  const auto documents = codec::parseYamlDocuments(*text, file);
  if (!documents) return base::fail(documents.error());
  std::vector<model::Node> nodes;
  const auto add = [&](const codec::YamlValue& value) -> Result<void> {
    const auto json = codec::yamlToJson(value, file);
    if (!json) return base::fail(json.error());
    auto node = codec::decodeNode(*json);
    if (!node)
      return base::fail(ErrorCode::kInvalid,
                        fmt::format("{}:{}: {}", file, value.line, node.error().message));
    nodes.push_back(std::move(*node));
    return {};
  };
  for (const codec::YamlValue& document : *documents) {
    const auto items = std::find_if(document.members.begin(), document.members.end(),
                                    [](const auto& member) { return member.first == "items"; });
    if (items == document.members.end()) {
      if (const auto added = add(document); !added) return base::fail(added.error());
      continue;
    }
    for (const codec::YamlValue& item : items->second.items) {
      if (const auto added = add(item); !added) return base::fail(added.error());
    }
  }
  return nodes;
}

Result<std::string> writtenInto(const std::string& text, const Manifest& manifest,
                                const model::ShapePlan& plan) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const model::PlannedRole& role : plan.roles) {
    const std::string field = fmt::format("spec.roles[{}].replicas", role.name);
    const auto line = static_cast<std::size_t>(codec::lineOfNamedField(manifest.document, field + ": "));
    constexpr std::string_view kKey = "replicas:";
    std::string& found = lines[std::min(std::max<std::size_t>(line, 1), lines.size()) - 1];
    const std::size_t key = found.find(kKey);
    const std::size_t first =
        key == std::string::npos ? key : found.find_first_of("0123456789", key + kKey.size());
    if (first == std::string::npos)
      return base::fail(ErrorCode::kInvalid,
                        fmt::format("{}:{}: {}: is not on this line", manifest.file, line, field));
    const std::size_t last = std::min(found.find_first_not_of("0123456789", first), found.size());
    found.replace(first, last - first, fmt::to_string(role.replicas));
  }
  std::string all;
  for (std::size_t i = 0; i < lines.size(); ++i) all += (i == 0 ? "" : "\n") + lines[i];
  return all;
}

}  // namespace trainyard::cli
