#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/gpu_resources.h"

namespace trainyard::test {

// The setting of the process for as long as a test lasts.
class GpuResources {
 public:
  explicit GpuResources(std::vector<std::string> names) { model::setGpuResources(std::move(names)); }
  ~GpuResources() { model::setGpuResources({}); }
  GpuResources(const GpuResources&) = delete;
  GpuResources& operator=(const GpuResources&) = delete;
};

}  // namespace trainyard::test
