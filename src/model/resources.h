#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::model {

struct Millicores {
  std::int64_t value = 0;
  friend auto operator<=>(Millicores, Millicores) = default;
};

struct Bytes {
  std::int64_t value = 0;
  friend auto operator<=>(Bytes, Bytes) = default;
};

// How much of one resource is wanted and how much is there, in the resource's own unit
// (cpu: millicores, memory: bytes, others: pieces).
struct ResourceShortfall {
  std::string resource;
  std::int64_t wanted = 0;
  std::int64_t available = 0;
};

// An amount of every resource. Sums saturate instead of overflowing: an absurd request must look too large,
// never small. Amounts may become negative by subtract() (an over-committed node has negative free room).
class Resources {
 public:
  Millicores cpu{};
  Bytes memory{};
  Bytes ephemeralStorage{};
  std::int64_t pods = 0;

  using Extended = std::vector<std::pair<std::string, std::int64_t>>;

  // Amount of an extended resource ("nvidia.com/gpu"); 0 when absent.
  [[nodiscard]] std::int64_t extended(std::string_view name) const;
  void setExtended(std::string_view name, std::int64_t amount);
  // Sorted by name, without zeros.
  [[nodiscard]] const Extended& extendedAll() const { return extended_; }
  // Of all that are GPUs, model/gpu_resources.h.
  [[nodiscard]] std::int64_t gpus() const;

  void add(const Resources& other);
  void subtract(const Resources& other);
  // The same, but nothing becomes less than 0.
  void subtractUpTo(const Resources& other);
  // Per resource the larger of both (init containers, inherited places).
  void raiseTo(const Resources& other);
  [[nodiscard]] Resources times(std::int64_t count) const;

  // Whether `wanted` fits into this amount. Resources not asked for do not matter, even when negative.
  [[nodiscard]] bool covers(const Resources& wanted) const;
  // The first resource that does not fit (cpu, memory, ephemeral-storage, pods, then extended by name).
  [[nodiscard]] std::optional<ResourceShortfall> shortfallFor(const Resources& wanted) const;
  // How many times `wanted` fits into this amount, at most `limit`.
  [[nodiscard]] std::int64_t timesCovered(const Resources& wanted, std::int64_t limit) const;

  friend bool operator==(const Resources&, const Resources&) = default;

 private:
  // One walk over both, however many names there are: of what a node has less its pods there may be many.
  template <typename Combine>
  void combine(const Resources& other, Combine op);

  Extended extended_;
};

}  // namespace trainyard::model
