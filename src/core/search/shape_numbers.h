#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "model/job.h"

namespace trainyard::core {

// Numbers for the shapes and pools of jobs (core/place/shape_key.h), which are cheaper to compare and to
// keep than their keys.
class ShapeNumbers {
 public:
  // The same number for jobs of the same shape, and different ones for different shapes, until clear().
  [[nodiscard]] std::uint32_t shapeOf(const model::Job& job);
  // The same number for jobs with the same node pool, as above; `shape`: the job's.
  [[nodiscard]] std::uint32_t poolOf(const model::Job& job, std::uint32_t shape);
  // The number of shapes.
  [[nodiscard]] std::size_t size() const { return shapes_.size(); }
  void clear();

 private:
  std::unordered_map<std::string, std::uint32_t> shapes_;
  std::unordered_map<std::string, std::uint32_t> pools_;
  std::unordered_map<std::uint32_t, std::uint32_t> poolOfShape_;
};

}  // namespace trainyard::core
