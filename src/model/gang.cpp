#include "model/gang.h"

#include <algorithm>

namespace trainyard::model {

bool Proposal::removes(std::string_view role, int index) const {
  if (kind == ProposalKind::kRestart) return true;
  return std::any_of(remove.begin(), remove.end(), [&](const Assignment& assignment) {
    return assignment.role == role && assignment.indices.contains(index);
  });
}

bool Placed::hasSucceeded(std::string_view role, int index) const {
  return std::any_of(succeeded.begin(), succeeded.end(), [&](const RoleMembers& each) {
    return each.role == role && each.indices.contains(index);
  });
}

void Placed::noteSucceeded(std::string_view role, int index) {
  auto at =
      std::find_if(succeeded.begin(), succeeded.end(), [&](const auto& each) { return each.role >= role; });
  if (at == succeeded.end() || at->role != role) at = succeeded.insert(at, {std::string(role), {}});
  std::vector<int> indices = at->indices.values();
  // Inserts in order: thousands of members may end in one cycle, each recorded separately.
  indices.insert(std::lower_bound(indices.begin(), indices.end(), index), index);
  at->indices = IndexSet(std::move(indices));
}

void Placed::forgetSucceeded(const std::vector<Assignment>& members) {
  for (const Assignment& gone : members) {
    const auto at = std::find_if(succeeded.begin(), succeeded.end(),
                                 [&](const auto& each) { return each.role == gone.role; });
    if (at == succeeded.end()) continue;
    std::vector<int> left = at->indices.values();
    std::erase_if(left, [&](int index) { return gone.indices.contains(index); });
    at->indices = IndexSet(std::move(left));
    if (at->indices.size() == 0) succeeded.erase(at);
  }
}

}  // namespace trainyard::model
