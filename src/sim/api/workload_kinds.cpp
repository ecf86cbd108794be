#include "sim/api/registry.h"

namespace trainyard::sim {
namespace {

// Of a Job that has started, the template is immutable. Until then, and after it was suspended and its
// controller has taken back its start, labels, gates and the like may change.
class JobStrategy final : public Strategy {
 public:
  void validateUpdate(const Json& old, const Json& job, Part part, Causes& causes) const override {
    if (part != Part::kMain || sameAt(old, job, {"spec", "template"})) return;
    const bool isOpen = boolAt(old, {"spec", "suspend"}) && textAt(old, {"status", "startTime"}).empty();
    if (!isOpen) causes.invalid("spec.template", "field is immutable");
  }
};

}  // namespace

std::unique_ptr<Strategy> makeJobStrategy() { return std::make_unique<JobStrategy>(); }

}  // namespace trainyard::sim
