#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
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

// The requested and the available amount of one resource, in the resource's own unit (cpu: millicores,
// memory: bytes, others: pieces).
struct ResourceShortfall {
  std::string resource;
  std::int64_t wanted = 0;
  std::int64_t available = 0;
};

// An amount of every resource. Sums saturate instead of overflowing: an absurd request must look too large,
// never small. Amounts may become negative by subtract() (as the free capacity of an over-committed node).
class Resources {
 public:
  // The native resources: each has a row in kNativeResources.
  Millicores cpu{};
  Bytes memory{};
  Bytes ephemeralStorage{};
  std::int64_t pods = 0;

  using Extended = std::vector<std::pair<std::string, std::int64_t>>;

  // Amount of an extended resource ("nvidia.com/gpu"); 0 if absent.
  [[nodiscard]] std::int64_t extended(std::string_view name) const;
  void setExtended(std::string_view name, std::int64_t amount);
  // Amount of any resource, native or extended.
  [[nodiscard]] std::int64_t amount(std::string_view name) const;
  void setAmount(std::string_view name, std::int64_t amount);
  // Sorted by name, without zeros.
  [[nodiscard]] const Extended& extendedAll() const { return extended_; }
  // The sum of all GPU resources, model/gpu_resources.h.
  [[nodiscard]] std::int64_t gpus() const;

  void add(const Resources& other);
  void subtract(const Resources& other);
  // Like subtract(), but no amount falls below 0.
  void subtractUpTo(const Resources& other);
  // Takes the larger amount of each resource (init containers, inherited nodes).
  void raiseTo(const Resources& other);
  [[nodiscard]] Resources times(std::int64_t count) const;

  // Returns true if `wanted` fits into this amount. Unrequested resources do not count, even negative.
  [[nodiscard]] bool covers(const Resources& wanted) const;
  // The first resource that does not fit (native ones in the order of their table, then extended by name).
  [[nodiscard]] std::optional<ResourceShortfall> shortfallFor(const Resources& wanted) const;
  // How many times `wanted` fits into this amount, at most `limit`.
  [[nodiscard]] std::int64_t timesCovered(const Resources& wanted, std::int64_t limit) const;

  friend bool operator==(const Resources&, const Resources&) = default;

 private:
  // One pass over both lists, which may be long: a node less its pods can have many names.
  template <typename Combine>
  void combine(const Resources& other, Combine op);

  Extended extended_;
};

enum class ResourceUnit { kMillicores, kBytes, kPieces };

// A resource that Resources has as a member.
template <typename Amount>
struct NativeResource {
  std::string_view name;
  ResourceUnit unit;
  Amount Resources::* member;

  // Its amount, in its unit.
  [[nodiscard]] constexpr std::int64_t& in(Resources& resources) const {
    if constexpr (std::is_same_v<Amount, std::int64_t>)
      return resources.*member;
    else
      return (resources.*member).value;
  }
  [[nodiscard]] constexpr std::int64_t in(const Resources& resources) const {
    if constexpr (std::is_same_v<Amount, std::int64_t>)
      return resources.*member;
    else
      return (resources.*member).value;
  }
};

// A tuple, so that loops over it are unrolled and cost what the members' names would.
inline constexpr std::tuple kNativeResources{
    NativeResource<Millicores>{"cpu", ResourceUnit::kMillicores, &Resources::cpu},
    NativeResource<Bytes>{"memory", ResourceUnit::kBytes, &Resources::memory},
    NativeResource<Bytes>{"ephemeral-storage", ResourceUnit::kBytes, &Resources::ephemeralStorage},
    NativeResource<std::int64_t>{"pods", ResourceUnit::kPieces, &Resources::pods},
};
inline constexpr std::size_t kNativeResourceCount = std::tuple_size_v<decltype(kNativeResources)>;

// Calls `visit` with each native resource, in order.
template <typename Visit>
constexpr void forEachNative(Visit visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, kNativeResources);
}

// Returns true if `holds` is true for each native resource. Stops at the first for which it is not.
template <typename Predicate>
constexpr bool allNative(Predicate holds) {
  return std::apply([&](const auto&... rows) { return (holds(rows) && ...); }, kNativeResources);
}

// The unit of the native resource of this name; nullopt if there is none.
[[nodiscard]] std::optional<ResourceUnit> nativeUnit(std::string_view name);

}  // namespace trainyard::model
