#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/kernel.h"

namespace trainyard::agent {

// A device's traffic control in memory, with the kernel's relevant rules: a class that a filter refers to
// cannot be removed, and the same filter cannot be added twice.
class MemoryKernel final : public Kernel {
 public:
  FoundLink link;
  std::vector<TcChange> made;
  // The error that apply() returns from now on, without any change.
  std::optional<base::Error> refusal;

  base::Result<FoundLink> read(const std::string& /*device*/) override { return link; }
  base::Result<std::vector<FoundClass>> readClasses(const std::string& /*device*/) override {
    return link.classes;
  }
  base::Result<void> apply(const std::string& /*device*/, const TcChange& change) override {
    if (refusal) return base::fail(*refusal);
    made.push_back(change);
    return std::visit([&](const auto& each) { return make(each); }, change);
  }
  KernelFeatures probe() override { return {}; }

 private:
  static base::Result<void> conflict(const char* what) {
    return base::fail(base::ErrorCode::kConflict, what);
  }
  auto classAt(std::uint16_t minor) {
    return std::find_if(link.classes.begin(), link.classes.end(),
                        [&](const FoundClass& each) { return each.shape.minor == minor; });
  }
  auto filterAt(std::uint32_t handle) {
    return std::find_if(link.filters.begin(), link.filters.end(),
                        [&](const FoundFilter& each) { return each.handle == handle; });
  }
  base::Result<void> make(const AddQdisc& /*change*/) {
    link = {.root = RootOwner::kOurs,
            .rootKind = "htb",
            .defaultMinor = kOthersClass,
            .classes = {},
            .filters = {}};
    return {};
  }
  base::Result<void> make(const RemoveQdisc& /*change*/) {
    link = {};
    return {};
  }
  base::Result<void> make(const SetClass& change) {
    const auto at = classAt(change.shape.minor);
    if ((at != link.classes.end()) != change.exists) return conflict("class");
    if (at == link.classes.end()) {
      link.classes.push_back({change.shape});
    } else {
      at->shape = change.shape;
    }
    return {};
  }
  base::Result<void> make(const RemoveClass& change) {
    const auto at = classAt(change.minor);
    const bool used = std::any_of(link.filters.begin(), link.filters.end(), [&](const FoundFilter& each) {
      return each.filter && each.filter->minor == change.minor;
    });
    if (at == link.classes.end() || used) return conflict("class in use");
    link.classes.erase(at);
    return {};
  }
  base::Result<void> make(const AddFilter& change) {
    const bool v6 = change.filter.flow.source.v6;
    link.filters.push_back({next_++, v6 ? kFilterPriority6 : kFilterPriority4, v6, change.filter});
    return {};
  }
  base::Result<void> make(const MoveFilter& change) {
    const auto at = filterAt(change.handle);
    if (at == link.filters.end()) return conflict("filter");
    at->filter = change.filter;
    return {};
  }
  base::Result<void> make(const RemoveFilter& change) {
    const auto at = filterAt(change.handle);
    if (at == link.filters.end()) return conflict("filter");
    link.filters.erase(at);
    return {};
  }

  std::uint32_t next_ = 0x80000800;
};

}  // namespace trainyard::agent
