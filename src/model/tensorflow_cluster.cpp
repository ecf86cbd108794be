#include "model/tensorflow_cluster.h"

#include <fmt/format.h>

#include "model/framework_ports.h"
#include "model/late_members.h"

namespace trainyard::model {
namespace {

std::string addressOf(const Job& job, std::string_view role, int index) {
  return fmt::format("\"{}:{}\"", memberHost(job, role, index), kTensorFlowPort);
}

}  // namespace

// Written without a JSON library: names of roles and hosts contain nothing to escape.
std::string tensorFlowRole(const Job& job, const Role& role) {
  if (role.name == "evaluator") return {};
  const int members = announcedMembers(job, role);
  std::string hosts;
  for (int i = 0; i < members; ++i) {
    if (i > 0) hosts += ',';
    hosts += addressOf(job, role.name, i);
  }
  return fmt::format("\"{}\":[{}]", role.name, hosts);
}

std::string tensorFlowCluster(const Job& job) {
  std::string cluster;
  for (const Role& role : job.spec.roles) {
    const std::string each = tensorFlowRole(job, role);
    if (each.empty()) continue;
    if (!cluster.empty()) cluster += ',';
    cluster += each;
  }
  return cluster;
}

std::string tensorFlowTask(const Job& job, std::string_view role, int index) {
  return fmt::format("\"{}\":{{\"{}\":{}}}", role, index, addressOf(job, role, index));
}

bool hasParameterServers(const JobSpec& spec) { return spec.findRole("ps") != nullptr; }

}  // namespace trainyard::model
