#include "core/search/shape_numbers.h"

#include "core/place/shape_key.h"

namespace trainyard::core {

std::uint32_t ShapeNumbers::shapeOf(const model::Job& job) {
  const auto next = static_cast<std::uint32_t>(shapes_.size());
  return shapes_.try_emplace(shapeKey(job), next).first->second;
}

std::uint32_t ShapeNumbers::poolOf(const model::Job& job, std::uint32_t shape) {
  const auto [known, isNew] = poolOfShape_.try_emplace(shape, 0);
  if (isNew) {
    const auto next = static_cast<std::uint32_t>(pools_.size());
    known->second = pools_.try_emplace(poolKey(job), next).first->second;
  }
  return known->second;
}

void ShapeNumbers::clear() {
  shapes_.clear();
  pools_.clear();
  poolOfShape_.clear();
}

}  // namespace trainyard::core
