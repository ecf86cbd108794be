#include "codec/failure_cases.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void failureCases(std::string_view input) {
  const auto cases = codec::decodeFailureCases(input, "file");
  if (!cases) return require(cases.error().message.starts_with("file: "), "a refusal names the file");
  require(!cases->empty(), "a file holds a case");
  for (const codec::FailureCase& each : *cases) {
    require(!each.members.empty(), "a gang has members");
    for (const model::MemberEvidence& member : each.members)
      require(!member.role.empty() && member.index >= 0, "a member has a place in its gang");
  }
}

}  // namespace trainyard::fuzz
