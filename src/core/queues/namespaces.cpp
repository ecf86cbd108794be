#include "core/queues/namespaces.h"

#include <algorithm>

#include "core/ledger/fit.h"

namespace trainyard::core {

bool namespaceAllowed(const model::Queue& queue, const std::string& ns, const model::Snapshot& snapshot) {
  const auto& requirements = queue.namespaceSelector.requirements;
  if (requirements.empty()) return true;
  const auto found =
      std::lower_bound(snapshot.namespaces.begin(), snapshot.namespaces.end(), ns,
                       [](const auto& each, const std::string& name) { return each->name < name; });
  if (found == snapshot.namespaces.end() || (*found)->name != ns) return false;
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& requirement) { return labelsMeet(requirement, (*found)->labels); });
}

}  // namespace trainyard::core
