#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/tc_plan.h"
#include "agent/tc_state.h"
#include "base/error.h"

namespace trainyard::agent {

// What ordering needs of the kernel. `missing` names features as kernels' configurations do.
struct KernelFeatures {
  std::vector<std::string> missing;
  std::string message;  // of the first one, or why nothing could be tried
  bool tried = false;   // false: unknown; the first use will tell
};

// Traffic control of the devices in the program's network namespace. Calls return at once: netlink answers
// in the same breath.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // kNotFound: no such device.
  [[nodiscard]] virtual base::Result<FoundLink> read(const std::string& device) = 0;
  // The classes alone, of a qdisc of ours: a tenth of the work of read(). Empty where there is none.
  [[nodiscard]] virtual base::Result<std::vector<FoundClass>> readClasses(const std::string& device) = 0;
  // kConflict: something is in the way (still in use, there already): read again. kUnsupported: the kernel
  // lacks what it takes. kForbidden: no NET_ADMIN here.
  [[nodiscard]] virtual base::Result<void> apply(const std::string& device, const TcChange& change) = 0;
  // Tries all on a pair of virtual devices of its own, which are never up and go again at once.
  [[nodiscard]] virtual KernelFeatures probe() = 0;
};

// Through libnl-route, for this process's namespace. kUnsupported: no netlink.
[[nodiscard]] base::Result<std::unique_ptr<Kernel>> openKernel();

}  // namespace trainyard::agent
