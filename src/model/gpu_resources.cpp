#include "model/gpu_resources.h"

#include <algorithm>
#include <utility>

#include "model/names.h"

namespace trainyard::model {
namespace {

std::vector<std::string>& setting() {
  static std::vector<std::string> all{std::string(names::kGpuResource)};
  return all;
}

}  // namespace

const std::vector<std::string>& gpuResources() { return setting(); }

bool isGpuResource(std::string_view name) {
  const std::vector<std::string>& all = setting();
  return std::find(all.begin(), all.end(), name) != all.end();
}

void setGpuResources(std::vector<std::string> list) {
  if (list.empty()) list.emplace_back(names::kGpuResource);
  setting() = std::move(list);
}

}  // namespace trainyard::model
