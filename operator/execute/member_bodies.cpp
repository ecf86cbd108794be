#include "operator/execute/member_bodies.h"

#include <fmt/format.h>

#include "codec/status.h"

namespace trainyard::operator_ {

std::string templateComplaint(const std::string& role, const base::Error& error) {
  return fmt::format("spec.roles[{}].template: {}", role, codec::serverMessage(error));
}

std::size_t bodyBytes(const model::Role& role, const core::MemberEnvironments& environments) {
  return role.templateJson.size() + environments.sharedBytes();
}

}  // namespace trainyard::operator_
