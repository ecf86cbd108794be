#include "cli/convert/ray_start.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/quantity.h"
#include "codec/yaml_json.h"

namespace trainyard::cli {
namespace {

constexpr std::int64_t kMilliUnits = 1000;
constexpr const char* kDashboard = "http://127.0.0.1:8265";

// Rounded up, as KubeRay does. Empty if there is none.
std::string wholeOf(const Json& value) {
  const auto amount = base::Quantity::parse(valueText(value));
  if (!amount || amount->milli() <= 0) return {};
  return std::to_string((amount->milli() + kMilliUnits - 1) / kMilliUnits);
}

void addResources(const Json& container, std::map<std::string, std::string>& flags) {
  const Json limits = get(container, "resources", "limits");
  std::string cpus = wholeOf(get(limits, "cpu"));
  if (cpus.empty()) cpus = wholeOf(get(container, "resources", "requests", "cpu"));
  if (!cpus.empty()) flags.try_emplace("num-cpus", cpus);
  if (const std::string memory = wholeOf(get(limits, "memory")); !memory.empty())
    flags.try_emplace("memory", memory);
  for (const auto& [name, value] : limits.items()) {
    if (name.ends_with("gpu") && !wholeOf(value).empty()) flags.try_emplace("num-gpus", wholeOf(value));
  }
}

bool isSwitch(const std::string& flag, const std::string& value) {
  static const std::set<std::string> kWithValue{"log-color", "include-dashboard"};
  return (value == "true" || value == "false") && !kWithValue.contains(flag);
}

// In double quotes of a shell, as KubeRay writes it.
std::string quoted(const std::string& text) { return Json(text).dump(); }

}  // namespace

std::string rayStartCommand(const Json& parameters, const Json& container, const std::string& head,
                            bool block) {
  std::map<std::string, std::string> flags;
  for (const auto& [name, value] : parameters.items())
    flags[name] = value.is_boolean() ? value.dump() : valueText(value);
  if (head.empty())
    flags.try_emplace("dashboard-host", "0.0.0.0");
  else
    flags.try_emplace("address", head);
  flags.try_emplace("metrics-export-port", "8080");
  flags["block"] = block ? "true" : "false";
  addResources(container, flags);
  std::string command = head.empty() ? "ray start --head" : "ray start";
  for (const auto& [flag, value] : flags) {
    if (!isSwitch(flag, value))
      command += fmt::format(" --{}={}", flag, value);
    else if (value == "true")
      command += fmt::format(" --{}", flag);
  }
  return command;
}

std::string raySubmitCommand(const Json& spec) {
  std::string command = fmt::format("ray job submit --address {}", kDashboard);
  if (const std::string environment = textOf(get(spec, "runtimeEnvYAML")); !environment.empty()) {
    const auto documents = codec::parseYamlDocuments(environment, "runtimeEnvYAML");
    if (!documents || documents->size() != 1) return {};
    const auto json = codec::yamlToJson(documents->front(), "runtimeEnvYAML");
    if (!json) return {};
    command += fmt::format(" --runtime-env-json {}", quoted(*json));
  }
  if (const Json metadata = get(spec, "metadata"); metadata.is_object() && !metadata.empty())
    command += fmt::format(" --metadata-json {}", quoted(metadata.dump()));
  if (const std::string id = textOf(get(spec, "jobId")); !id.empty())
    command += fmt::format(" --submission-id {}", id);
  if (const std::string cpus = valueText(get(spec, "entrypointNumCpus")); !cpus.empty())
    command += fmt::format(" --entrypoint-num-cpus {}", cpus);
  if (const std::string gpus = valueText(get(spec, "entrypointNumGpus")); !gpus.empty())
    command += fmt::format(" --entrypoint-num-gpus {}", gpus);
  if (const std::string others = textOf(get(spec, "entrypointResources")); !others.empty())
    command += fmt::format(" --entrypoint-resources {}", quoted(others));
  // The dashboard answers some time after `ray start` has returned.
  return fmt::format("until ray job list --address {} >/dev/null 2>&1; do sleep 2; done; exec {} -- {}",
                     kDashboard, command, textOf(get(spec, "entrypoint")));
}

}  // namespace trainyard::cli
