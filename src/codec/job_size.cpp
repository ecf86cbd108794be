#include "codec/job_size.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/saturating.h"
#include "codec/config_map.h"
#include "codec/framework_files.h"
#include "model/limits.h"
#include "model/tensorflow_cluster.h"

namespace trainyard::codec {
namespace {

namespace limits = model::limits;
using base::saturatingAdd;
using base::saturatingMultiply;

// The variables of a member other than TF_CONFIG, with its labels and owner; and the additions for ssh.
constexpr std::int64_t kOwnBytes = 1'024;
constexpr std::int64_t kSshBytes = 4'096;
// The bytes per host in TF_CONFIG for quotes, comma and port; and the bytes that enclose all hosts.
constexpr std::int64_t kHostExtra = 8;
constexpr std::int64_t kConfigExtra = 256;

std::int64_t maxMembers(const model::JobSpec& spec, const model::Role& role) {
  return spec.elastic && spec.elastic->role == role.name ? spec.elastic->maxReplicas : role.replicas;
}

std::int64_t longestHost(const model::Job& job, const model::Role& role) {
  const auto last = static_cast<int>(maxMembers(job.spec, role) - 1);
  return static_cast<std::int64_t>(model::memberHost(job, role.name, last).size());
}

std::int64_t containersOf(const Field& podSpec) {
  std::int64_t count = 0;
  for (const std::string_view list : {"containers", "initContainers"})
    podSpec.value().find(list).forEachElement([&](JsonValue) { ++count; });
  return count;
}

void checkAmounts(const Field& roles, const model::JobSpec& spec) {
  model::Resources sum;
  for (const model::Role& role : spec.roles) sum.add(role.shape.requests.times(maxMembers(spec, role)));
  // The status reports the number of GPUs in 32 bits.
  if (sum.gpus() > INT32_MAX) {
    roles.complain(
        fmt::format("ask for {} GPUs or more in all: at most {} can be counted", sum.gpus(), INT32_MAX));
  }
  const auto check = [&](std::string_view name, std::int64_t amount) {
    if (amount == INT64_MAX) roles.complain(fmt::format("ask for more {} in all than can be counted", name));
  };
  model::forEachNative([&](const auto& native) { check(native.name, native.in(sum)); });
  for (const auto& [name, amount] : sum.extendedAll()) check(name, amount);
}

// Checks all roles together: each node is compared with the sum of their selectors once.
void checkSelectors(const Field& roles, const model::Job& job) {
  // A gang that has its placement was admitted under earlier, larger limits.
  if (job.status.gang.placed || job.status.gang.proposal) return;
  std::size_t words = 0;
  for (auto role = job.spec.roles.begin(); role != job.spec.roles.end(); ++role) {
    const bool again = std::any_of(job.spec.roles.begin(), role, [&](const model::Role& before) {
      return before.shape.nodeSelector == role->shape.nodeSelector &&
             before.shape.affinity == role->shape.affinity;
    });
    if (!again) words += model::selectorTerms(role->shape);
  }
  if (words <= limits::kMaxNodeTerms) return;
  roles.complain(fmt::format(
      "name {} labels and values in node selectors and required node affinity: at most {} together", words,
      limits::kMaxNodeTerms));
}

std::int64_t addressBytes(const model::Job& job, const model::Role& role) {
  return maxMembers(job.spec, role) * (longestHost(job, role) + kHostExtra);
}

// The size of the TF_CONFIG that names all members.
std::int64_t configBytes(const model::Job& job) {
  std::int64_t bytes = kConfigExtra;
  for (const model::Role& role : job.spec.roles) bytes += addressBytes(job, role);
  return bytes;
}

// The bytes that the framework adds to each container of such a member.
std::int64_t sizeVariableBytes(const model::Job& job, const model::Role& role) {
  const model::FrameworkTraits& traits = model::traitsOf(job.spec.framework);
  if (traits.launchesOverSsh) return kSshBytes;
  if (!traits.readsTfConfig) return 0;
  // All other roles read the list from a file of the job.
  if (role.name != "worker" || !model::hasParameterServers(job.spec)) return kConfigExtra;
  std::int64_t bytes = kConfigExtra + longestHost(job, role);
  for (const model::Role& each : job.spec.roles) {
    if (each.name != "worker") bytes += addressBytes(job, each);
  }
  return bytes;
}

void complainOfLarge(const Field& field, std::string_view what, std::int64_t bytes) {
  field.complain(fmt::format(
      "{} would have {} KiB, at most {} are allowed: put what is large into a ConfigMap or an image", what,
      bytes >> 10, limits::kTemplateBytes >> 10));
}

void checkWritten(const Field& roles, const model::Job& job) {
  const model::JobSpec& spec = job.spec;
  const std::int64_t config = model::traitsOf(spec.framework).readsTfConfig ? configBytes(job) : 0;
  if (config > limits::kVariableBytes) {
    roles.complain(fmt::format(
        "TF_CONFIG, which names every member to each, would have {} bytes, and no process begins with a "
        "variable of more than {}: use fewer replicas, or shorter names of job, roles and namespace",
        config, limits::kVariableBytes));
  }
  std::int64_t bytes = 0;
  std::int64_t templates = 0;
  std::size_t index = 0;
  roles.forEachElement([&](const Field& element) {
    if (index >= spec.roles.size()) return;
    const model::Role& role = spec.roles[index++];
    const std::int64_t variables = saturatingMultiply(containersOf(element["template"]["spec"]),
                                                      saturatingAdd(kOwnBytes, sizeVariableBytes(job, role)));
    const std::int64_t one = saturatingAdd(static_cast<std::int64_t>(role.templateJson.size()), variables);
    bytes = saturatingAdd(bytes, saturatingMultiply(one, maxMembers(spec, role)));
    templates += static_cast<std::int64_t>(role.templateJson.size());
    if (one > limits::kTemplateBytes) complainOfLarge(element, "a pod of this role", one);
  });
  if (templates > limits::kTemplateBytes) complainOfLarge(roles, "the templates together", templates);
  if (bytes > limits::kJobPodBytes) {
    roles.complain(fmt::format(
        "the job's pods would have {} MiB together (replicas times template, with the variables of every "
        "container), at most {} are allowed: put what is large into a ConfigMap or an image",
        bytes >> 20, limits::kJobPodBytes >> 20));
  }
}

void checkHosts(const Field& roles, const model::Job& job) {
  if (!job.spec.mayHavePeers()) return;
  std::int64_t members = 0;
  std::int64_t longest = 0;
  for (const model::Role& role : job.spec.roles) {
    members += maxMembers(job.spec, role);
    longest = std::max(longest, longestHost(job, role));
  }
  const auto count = static_cast<std::size_t>(members);
  const auto length = static_cast<std::size_t>(longest);
  const bool launches = model::traitsOf(job.spec.framework).launchesOverSsh;
  const std::size_t bytes = std::max(hostsBytes(count, length), launches ? hostfileBytes(count, length) : 0);
  if (bytes <= limits::kConfigMapBytes) return;
  roles.complain(fmt::format(
      "the list of the {} members' host names, the ConfigMap {}, would have {} bytes, and a ConfigMap may "
      "have {}: use fewer replicas, or shorter names of job, roles and namespace",
      members, configMapName(job), bytes, limits::kConfigMapBytes));
}

}  // namespace

void checkJobSize(const Field& roles, const model::Job& job) {
  if (job.spec.roles.empty()) return;
  checkAmounts(roles, job.spec);
  checkSelectors(roles, job);
  checkWritten(roles, job);
  checkHosts(roles, job);
}

}  // namespace trainyard::codec
