#include "codec/policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codec/duration.h"
#include "codec/failure_rules.h"
#include "codec/label_syntax.h"
#include "codec/yaml_value.h"
#include "model/names.h"
#include "model/queue.h"

namespace trainyard::codec {
namespace {

using std::chrono::milliseconds;

// The upper bound of every duration: a longer value is meant as "never", and sums of bounded values cannot
// overflow.
constexpr milliseconds kYear = std::chrono::hours(8760);
constexpr std::size_t kMaxLevels = 8;
constexpr std::size_t kMaxGpuResources = 32;
constexpr std::size_t kMaxShapeCosts = 1'000;
constexpr std::int64_t kMax = 1'000'000;

// Keeps `into`, which is the default, if the key is absent.
void readDuration(const YamlField& field, milliseconds& into, milliseconds least = milliseconds(0)) {
  if (!field.present()) return;
  const auto duration = parseDuration(field.text());
  if (!duration) return field.refuse("must be a duration such as 90s, 10m or 1h30m");
  if (*duration < least) return field.refuse(fmt::format("must be at least {}s", least.count() / 1000));
  if (*duration > kYear) return field.refuse("must be a year, 8760h, at most");
  into = *duration;
}

void readInteger(const YamlField& field, int& into, std::int64_t least, std::int64_t most) {
  if (!field.present()) return;
  const std::string text = field.scalar();
  std::int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && stopped == text.data() + text.size();
  if (!whole || number < least || number > most)
    return field.refuse(fmt::format("must be a whole number from {} to {}", least, most));
  into = static_cast<int>(number);
}

// Parses a decimal number in thousandths. Digits only: no NaN and no exponent, and never through a double.
std::optional<std::int64_t> parseThousandths(std::string_view text) {
  constexpr std::size_t kMaxDigits = 9;
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, dot);
  const std::string_view fraction = dot == text.size() ? std::string_view() : text.substr(dot + 1);
  const auto digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (whole.empty() || whole.size() > kMaxDigits || fraction.size() > 3) return std::nullopt;
  if (dot != text.size() && fraction.empty()) return std::nullopt;
  if (!digits(whole) || !digits(fraction)) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : whole) value = value * 10 + (c - '0');
  for (std::size_t i = 0; i < 3; ++i) value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  return value;
}

void readThousandths(const YamlField& field, int& into, int least, int most, std::string_view what) {
  if (!field.present()) return;
  const auto number = parseThousandths(field.scalar());
  if (!number || *number < least || *number > most) return field.refuse(what);
  into = static_cast<int>(*number);
}

void readBoolean(const YamlField& field, bool& into) {
  if (!field.present()) return;
  const std::string text = field.scalar();
  if (text != "true" && text != "false") return field.refuse("must be true or false");
  into = text == "true";
}

void readNeverOrDuration(const YamlField& field, std::optional<milliseconds>& into) {
  if (!field.present()) return;
  if (field.text() == "never") {
    into.reset();
    return;
  }
  const auto duration = parseDuration(field.text());
  if (!duration) return field.refuse("must be a duration such as 90s, 10m or 1h30m, or never");
  if (*duration > kYear) return field.refuse("must be a year, 8760h, at most, or never");
  into = *duration;
}

// The limit covers the kinds of GPUs in a cluster: whole devices, and the profiles that divide them.
void readGpuResources(const YamlField& field, std::vector<std::string>& into) {
  if (!field.present()) return;
  std::vector<std::string> names;
  field.forEachElement([&](const YamlField& each) {
    const std::string_view name = each.text();
    if (names.size() == kMaxGpuResources)
      return each.complain(fmt::format("is one too many: {} at most", kMaxGpuResources));
    const bool extended = name.find('/') != std::string_view::npos && isLabelKey(name) &&
                          !name.starts_with("requests.") && !name.starts_with(model::kGpuTypePrefix);
    if (!extended) return each.refuse("must be an extended resource such as nvidia.com/gpu");
    if (std::find(names.begin(), names.end(), name) != names.end())
      return each.refuse("must occur only once");
    names.emplace_back(name);
  });
  if (names.empty()) return field.complain("must name a resource");
  into = std::move(names);
}

// Without a slash, so that no class has the name of a resource.
void readDeviceClasses(const YamlField& field, std::vector<std::string>& into) {
  if (!field.present()) return;
  field.forEachElement([&](const YamlField& each) {
    const std::string_view name = each.text();
    if (into.size() == kMaxGpuResources)
      return each.complain(fmt::format("is one too many: {} at most", kMaxGpuResources));
    if (name.find('/') != std::string_view::npos || !isLabelKey(name))
      return each.refuse("must be a DeviceClass such as gpu.nvidia.com");
    if (std::find(into.begin(), into.end(), name) != into.end()) return each.refuse("must occur only once");
    into.emplace_back(name);
  });
}

void readLabelKey(const YamlField& field, std::string& into) {
  if (!field.present()) return;
  const std::string_view text = field.text();
  if (!isLabelKey(text)) return field.refuse("must be a label key such as nvidia.com/gpu.product");
  into = text;
}

// As the CRD defines it for spec.locality.
bool isLevelName(std::string_view text) {
  constexpr std::size_t kMaxName = 32;
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= kMaxName && letter(text.front()) && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c) || c == '-'; });
}

void readLevel(const YamlField& field, std::vector<model::TopologyLevel>& levels) {
  field.expectKeys({"name", "label"});
  const YamlField name = field["name"];
  const YamlField label = field["label"];
  if (!name.present()) return field.complain("needs a name");
  if (!label.present()) return field.complain("needs a label, the key of a node label");
  model::TopologyLevel level{std::string(name.text()), {}};
  if (!isLevelName(level.name))
    name.refuse("must be lower-case letters, digits and dashes, 32 at most, a letter first");
  readLabelKey(label, level.labelKey);
  for (const model::TopologyLevel& wider : levels) {
    if (wider.name == level.name) name.refuse("must be used once only");
    if (wider.labelKey == level.labelKey) label.refuse("must be used once only");
    if (wider.labelKey == model::names::kHostnameLabel)
      field.complain("is below the level of single nodes, which must be the last");
  }
  levels.push_back(std::move(level));
}

std::string presetNames() { return fmt::format("{}", fmt::join(model::topologyPresetNames(), ", ")); }

void readTopology(const YamlField& field, std::vector<model::TopologyLevel>& into) {
  if (!field.present()) return;
  if (!field.isList()) {
    const auto preset = model::topologyPreset(field.text());
    if (!preset) return field.refuse(fmt::format("must be a list of levels or one of {}", presetNames()));
    into = *preset;
    return;
  }
  std::vector<model::TopologyLevel> levels;
  field.forEachElement([&](const YamlField& each) {
    if (levels.size() < kMaxLevels) return readLevel(each, levels);
    each.complain(fmt::format("is one level too many: {} at most", kMaxLevels));
  });
  // The single node is a level of every network.
  const bool endsWithNode = !levels.empty() && levels.back().labelKey == model::names::kHostnameLabel;
  if (!endsWithNode) {
    const bool taken =
        std::any_of(levels.begin(), levels.end(), [](const auto& l) { return l.name == "node"; });
    if (taken) return field.complain("the level node must be the last, with label kubernetes.io/hostname");
    levels.push_back({"node", std::string(model::names::kHostnameLabel)});
  }
  into = std::move(levels);
}

void readOrdering(const YamlField& field, model::Ordering& into) {
  if (!field.present()) return;
  if (const auto ordering = model::orderingNamed(field.text())) {
    into = *ordering;
  } else {
    field.refuse("must be " + model::orderingNames());
  }
}

void readRelaxation(const YamlField& field, model::RelaxationPolicy& into) {
  field.expectKeys({"base", "perGpu", "ofEstimate", "cap"});
  readDuration(field["base"], into.base);
  readDuration(field["perGpu"], into.perGpu);
  readThousandths(field["ofEstimate"], into.permilleOfEstimate, 0, 1000,
                  "must be a part of the estimated duration from 0 to 1 such as 0.05");
  readDuration(field["cap"], into.cap);
}

void readShapeCosts(const YamlField& field, std::vector<model::ShapeCost>& into) {
  field.forEachElement([&](const YamlField& each) {
    if (into.size() == kMaxShapeCosts)
      return each.complain(fmt::format("is one too many: {} at most", kMaxShapeCosts));
    each.expectKeys({"nodes", "gpusPerNode", "slowdown"});
    for (const std::string_view key : {"nodes", "gpusPerNode", "slowdown"}) {
      if (!each.section(key).present()) each.complain(fmt::format("needs {}", key));
    }
    model::ShapeCost cost;
    readInteger(each["nodes"], cost.nodes, 1, kMax);
    readInteger(each["gpusPerNode"], cost.gpusPerNode, 1, kMax);
    readThousandths(each["slowdown"], cost.slowdownPermille, 100, 100'000,
                    "must be a factor from 0.1 to 100 such as 1.25");
    const bool again = std::any_of(into.begin(), into.end(), [&](const model::ShapeCost& earlier) {
      return earlier.nodes == cost.nodes && earlier.gpusPerNode == cost.gpusPerNode;
    });
    if (again)
      each.complain(fmt::format("{} nodes with {} GPUs each occur twice", cost.nodes, cost.gpusPerNode));
    into.push_back(cost);
  });
}

void readBackfill(const YamlField& field, model::BackfillPolicy& into) {
  field.expectKeys({"enabled", "reservationLimit", "keepFreed"});
  readBoolean(field["enabled"], into.enabled);
  readDuration(field["reservationLimit"], into.reservationLimit);
  readDuration(field["keepFreed"], into.keepFreed);
}

void readPreemption(const YamlField& field, model::PreemptionPolicy& into) {
  field.expectKeys({"minRuntime", "maxLostWork", "maxGrace"});
  readDuration(field["minRuntime"], into.minRuntime);
  readDuration(field["maxLostWork"], into.maxLostWork);
  milliseconds maxGrace = into.maxGrace;
  readDuration(field["maxGrace"], maxGrace, std::chrono::seconds(1));
  if (maxGrace.count() % 1000 != 0) return field["maxGrace"].refuse("must be whole seconds");
  into.maxGrace = std::chrono::duration_cast<std::chrono::seconds>(maxGrace);
}

void readTimeSlicing(const YamlField& field, model::TimeSlicing& into) {
  field.expectKeys({"enabled", "interval"});
  readBoolean(field["enabled"], into.enabled);
  readDuration(field["interval"], into.interval, std::chrono::seconds(1));
}

void readDefragmentation(const YamlField& field, model::Defragmentation& into) {
  field.expectKeys({"enabled", "gain"});
  readBoolean(field["enabled"], into.enabled);
  readThousandths(field["gain"], into.gainPermille, 1000, 1'000'000,
                  "must be a factor from 1 to 1000 such as 2");
}

void readResize(const YamlField& field, model::ResizePolicy& into) {
  field.expectKeys({"enabled", "interval", "fairnessLoss", "touched", "gain"});
  readBoolean(field["enabled"], into.enabled);
  readDuration(field["interval"], into.interval, std::chrono::seconds(1));
  constexpr const char* kPart = "must be a part from 0 to 1 such as 0.1";
  readThousandths(field["fairnessLoss"], into.fairnessLossPermille, 0, 1000, kPart);
  readThousandths(field["touched"], into.touchedPermille, 0, 1000, kPart);
  readThousandths(field["gain"], into.gainPermille, 1000, 1'000'000,
                  "must be a factor from 1 to 1000 such as 2");
}

void readUsageHalfLife(const YamlField& field, std::optional<std::chrono::seconds>& into) {
  if (!field.present()) return;
  milliseconds halfLife{0};
  readDuration(field, halfLife, std::chrono::seconds(1));
  if (halfLife.count() % 1000 != 0) return field.refuse("must be whole seconds");
  into = std::chrono::duration_cast<std::chrono::seconds>(halfLife);
}

void readPreflight(const YamlField& field, model::Preflight& into) {
  if (!field.present()) return;
  field.expectKeys({"image", "command"});
  into.image = field["image"].text();
  if (into.image.empty()) field.complain("needs an image");
  field["command"].forEachElement([&](const YamlField& word) { into.command.emplace_back(word.text()); });
}

// As the schema of ProvisioningRequest defines it.
bool isClassName(std::string_view text) {
  constexpr std::size_t kMaxName = 253;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kMaxName && plain(text.front()) && plain(text.back()) &&
         text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-' || c == '.'; });
}

void readProvisioning(const YamlField& field, model::ProvisioningPolicy& into) {
  field.expectKeys({"with", "class", "after", "giveUpAfter", "retryAfter", "maxJobs"});
  if (const YamlField with = field["with"]; with.present()) {
    const std::string_view name = with.text();
    if (name == "Nothing") {
      into.by = model::ProvisioningBy::kDisabled;
    } else if (name == "ProvisioningRequest") {
      into.by = model::ProvisioningBy::kProvisioningRequest;
    } else if (name == "PlaceholderPods") {
      into.by = model::ProvisioningBy::kPlaceholderPods;
    } else {
      with.refuse("must be Nothing, ProvisioningRequest or PlaceholderPods");
    }
  }
  if (const YamlField name = field["class"]; name.present()) {
    if (!isClassName(name.text()))
      name.refuse("must be a provisioning class such as check-capacity.autoscaling.x-k8s.io");
    into.className = name.text();
  }
  readDuration(field["after"], into.after);
  readDuration(field["giveUpAfter"], into.giveUpAfter, std::chrono::seconds(1));
  readDuration(field["retryAfter"], into.retryAfter, std::chrono::seconds(1));
  constexpr std::int64_t kMaxJobs = 1'000;
  readInteger(field["maxJobs"], into.maxJobs, 1, kMaxJobs);
}

model::Policy readPolicy(const YamlField& root) {
  root.expectKeys({"topology",        "gpuResources",    "deviceClasses", "gpuTypeLabel",  "mixGpuTypes",
                   "ordering",        "relaxation",      "shapeCosts",    "backfill",      "preemption",
                   "timeSlicing",     "defragmentation", "resize",        "usageHalfLife", "unreachableGrace",
                   "chargeOtherPods", "requireQueue",    "failures",      "preflight",     "provisioning"});
  model::Policy policy;
  readTopology(root["topology"], policy.topology);
  readGpuResources(root["gpuResources"], policy.gpuResources);
  readDeviceClasses(root["deviceClasses"], policy.deviceClasses);
  readLabelKey(root["gpuTypeLabel"], policy.gpuTypeLabel);
  readBoolean(root["mixGpuTypes"], policy.mixGpuTypes);
  readOrdering(root["ordering"], policy.ordering);
  readRelaxation(root.section("relaxation"), policy.relaxation);
  readShapeCosts(root.section("shapeCosts"), policy.shapeCosts);
  readBackfill(root.section("backfill"), policy.backfill);
  readPreemption(root.section("preemption"), policy.preemption);
  readTimeSlicing(root.section("timeSlicing"), policy.timeSlicing);
  readDefragmentation(root.section("defragmentation"), policy.defragmentation);
  readResize(root.section("resize"), policy.resize);
  readUsageHalfLife(root["usageHalfLife"], policy.usageHalfLife);
  readNeverOrDuration(root["unreachableGrace"], policy.unreachableGrace);
  readBoolean(root["chargeOtherPods"], policy.chargeOtherPods);
  readBoolean(root["requireQueue"], policy.requireQueue);
  const YamlField failures = root.section("failures");
  failures.expectKeys({"rules", "suspectAfter", "suspectFor"});
  readInteger(failures["suspectAfter"], policy.failures.suspectAfter, 0, kMax);
  readDuration(failures["suspectFor"], policy.failures.suspectFor);
  readFailureRules(failures.section("rules"), policy.failureRules);
  readPreflight(root.section("preflight"), policy.preflight);
  return policy;
}

}  // namespace

base::Result<PolicyFile> decodePolicyFile(const std::string& yaml, const std::string& file) {
  const auto value = parseYamlValue(yaml, file);
  if (!value) return base::fail(value.error());
  YamlComplaint complaint(file);
  const YamlField root(*value, complaint);
  PolicyFile decoded;
  decoded.policy = readPolicy(root);
  readProvisioning(root.section("provisioning"), decoded.provisioning);
  if (!complaint.text().empty()) return base::fail(base::ErrorCode::kInvalid, complaint.text());
  return decoded;
}

base::Result<std::vector<std::string>> decodeGpuResources(const std::string& yaml, const std::string& file) {
  const auto value = parseYamlValue(yaml, file);
  if (!value) return base::fail(value.error());
  YamlComplaint complaint(file);
  const YamlField root(*value, complaint);
  model::Policy policy;
  readGpuResources(root["gpuResources"], policy.gpuResources);
  readDeviceClasses(root["deviceClasses"], policy.deviceClasses);
  if (!complaint.text().empty()) return base::fail(base::ErrorCode::kInvalid, complaint.text());
  return gpuNamesOf(policy);
}

std::vector<std::string> gpuNamesOf(const model::Policy& policy) {
  std::vector<std::string> names = policy.gpuResources;
  names.insert(names.end(), policy.deviceClasses.begin(), policy.deviceClasses.end());
  return names;
}

base::Result<model::Policy> decodePolicy(const std::string& yaml, const std::string& file) {
  auto decoded = decodePolicyFile(yaml, file);
  if (!decoded) return base::fail(decoded.error());
  return std::move(decoded->policy);
}

}  // namespace trainyard::codec
