#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/gpu_resources.h"

namespace trainyard::test {

// Sets the process-wide GPU resource names for the duration of a test.
class GpuResources {
 public:
  explicit GpuResources(std::vector<std::string> names) { model::setGpuResources(std::move(names)); }
  ~GpuResources() { model::setGpuResources({}); }
  GpuResources(const GpuResources&) = delete;
  GpuResources& operator=(const GpuResources&) = delete;
};

}  // namespace trainyard::test
