#include "model/gang.h"

#include <algorithm>

namespace trainyard::model {

bool Proposal::removes(std::string_view role, int index) const {
  if (kind == ProposalKind::kRestart) return true;
  return std::any_of(remove.begin(), remove.end(), [&](const Assignment& assignment) {
    return assignment.role == role && assignment.indices.contains(index);
  });
}

}  // namespace trainyard::model
