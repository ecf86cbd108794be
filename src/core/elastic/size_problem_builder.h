#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/elastic/resizable_gangs.h"
#include "core/resize.h"

namespace trainyard::core {

inline constexpr std::int64_t kPermille = 1'000;
inline constexpr std::int64_t kWhole = 1'000'000'000;  // 1 in fixed point: of a speed, of a share
inline constexpr std::size_t kSizedKinds = 3;          // GPUs, cpu, memory
[[nodiscard]] std::array<std::int64_t, kSizedKinds> sizedAmounts(const model::Resources& amount);

// States the sizes of gangs as a SizeProblem: servers are the ledger's nodes.
class SizeProblemBuilder {
 public:
  // `kept`: nodes on which no gang grows, by ledger index; empty if there are none.
  SizeProblemBuilder(const ResizeRequest& request, const ResizableGangs& gangs, const std::vector<char>& kept)
      : in_(request), gangs_(gangs), kept_(kept) {}

  // The problem of the gangs in ResizableGangs::mayChange, in that order.
  [[nodiscard]] SizeProblem build(int maxTouched);

 private:
  using Job = model::Job;

  void describeNodes();
  SizeProblem::Job describe(const Job& job);
  void describePlaces(const Job& job, SizeProblem::Job& described) const;
  [[nodiscard]] std::uint32_t poolOf(const Job& job);
  void value(const Job& job, SizeProblem::Job& described) const;
  [[nodiscard]] std::vector<model::SpeedPoint> declared(const Job& job, int perNode) const;
  [[nodiscard]] int membersOnANode(const model::Role& role) const;
  [[nodiscard]] base::WallTime::duration horizonOf(const Job& job) const;
  void weigh();

  const ResizeRequest& in_;
  const ResizableGangs& gangs_;
  const std::vector<char>& kept_;
  SizeProblem problem_;
  std::map<std::string, std::uint32_t> pools_;  // by templateKey(); key empty for gangs that are left out
  std::vector<int> membersOnANode_;             // at most, by pool
};

// Whether gangs may grow on this node.
[[nodiscard]] bool mayGrowOn(const Ledger& ledger, std::size_t node, const std::vector<char>& kept);

}  // namespace trainyard::core
