#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/failure_class.h"
#include "model/member_evidence.h"

namespace trainyard::codec {

// What a case is known to be, for comparing.
struct ExpectedFailure {
  model::FailureClass failure = model::FailureClass::kUnknown;
  std::string rootMember = {};  // "worker-3"; empty: not said
};

// A gang that failed, as a file tells of it: docs/failures.md.
struct FailureCase {
  std::string name;
  std::vector<model::MemberEvidence> members;
  std::optional<ExpectedFailure> expect = std::nullopt;
};

// One case, or a list of them. kInvalid says "FILE: [3].members[0].role: is required": unknown keys outside
// of a pod's status, which is Kubernetes' own, are refused, and so is a file without a case.
[[nodiscard]] base::Result<std::vector<FailureCase>> decodeFailureCases(std::string_view json,
                                                                        const std::string& file);

}  // namespace trainyard::codec
