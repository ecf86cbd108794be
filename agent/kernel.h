#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/tc_plan.h"
#include "agent/tc_state.h"
#include "base/error.h"

namespace trainyard::agent {

// The kernel features that ordering needs. `missing` has their names in the kernel's configuration.
struct KernelFeatures {
  std::vector<std::string> missing;
  std::string message;  // about the first missing one, or why the probe failed
  bool tried = false;   // false: unknown until the first use
};

// Traffic control of the devices in the program's network namespace. Calls are
// synchronous and short: netlink answers immediately.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // kNotFound: the device does not exist.
  [[nodiscard]] virtual base::Result<FoundLink> read(const std::string& device) = 0;
  // Only the classes of our qdisc: a tenth of the work of read(). Empty if there is no such qdisc.
  [[nodiscard]] virtual base::Result<std::vector<FoundClass>> readClasses(const std::string& device) = 0;
  // kConflict: the kernel's state differs from the plan's (an object exists already or is in use): read
  // again. kUnsupported: the kernel lacks a feature. kForbidden: NET_ADMIN is missing.
  [[nodiscard]] virtual base::Result<void> apply(const std::string& device, const TcChange& change) = 0;
  // Tries every feature on a pair of virtual devices, which are never up and are removed afterwards.
  [[nodiscard]] virtual KernelFeatures probe() = 0;
};

// Uses libnl-route in this process's network namespace. kUnsupported: netlink is not available.
[[nodiscard]] base::Result<std::unique_ptr<Kernel>> openKernel();

}  // namespace trainyard::agent
