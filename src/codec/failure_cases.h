#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/failure_class.h"
#include "model/member_evidence.h"

namespace trainyard::codec {

// The known result of a case, for comparison.
struct ExpectedFailure {
  model::FailureClass failure = model::FailureClass::kUnknown;
  std::string rootMember = {};  // "worker-3"; empty: not specified
};

// A failed gang as a file describes it: docs/failures.md.
struct FailureCase {
  std::string name;
  std::vector<model::MemberEvidence> members;
  std::optional<ExpectedFailure> expect = std::nullopt;
};

// Reads one case or a list of cases. kInvalid: "FILE: [3].members[0].role: is required". A file without a
// case is refused, and so are unknown keys outside a pod's status, which follows Kubernetes' own schema.
[[nodiscard]] base::Result<std::vector<FailureCase>> decodeFailureCases(std::string_view json,
                                                                        const std::string& file);

}  // namespace trainyard::codec
