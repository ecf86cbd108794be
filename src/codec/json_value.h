#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

enum class JsonType { kMissing, kNull, kBool, kInteger, kReal, kString, kArray, kObject };

// A position in a JsonDocument: two integers, cheap to copy, valid as long as the document. Reading is
// lenient: a member of a non-object is missing, and an accessor of the wrong type returns nothing.
class JsonValue {
 public:
  JsonValue() = default;

  [[nodiscard]] JsonType type() const;
  // Neither missing nor null: Kubernetes treats both alike.
  [[nodiscard]] bool present() const;
  // The first member of that name; missing if there is none.
  [[nodiscard]] JsonValue find(std::string_view key) const;

  [[nodiscard]] std::optional<std::string_view> string() const;
  // Integers only; empty for a number that exceeds int64.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;

  // The value as JSON without spaces, with members in their order.
  [[nodiscard]] std::string minified() const;
  // As minified(), but with members sorted by name: equal values have equal texts.
  [[nodiscard]] std::string canonical() const;

  // Calls visit(key, value) for every member of an object, in order; does nothing for other types.
  template <typename Visit>
  void forEachMember(Visit&& visit) const {
    visitMembers([](void* context, std::string_view key,
                    JsonValue value) { (*static_cast<Visit*>(context))(key, value); },
                 const_cast<void*>(static_cast<const void*>(&visit)));
  }
  // Calls visit(value) for every element of an array, in order; does nothing for other types.
  template <typename Visit>
  void forEachElement(Visit&& visit) const {
    visitElements([](void* context, JsonValue value) { (*static_cast<Visit*>(context))(value); },
                  const_cast<void*>(static_cast<const void*>(&visit)));
  }

 private:
  friend class JsonDocument;
  friend struct JsonAccess;
  using MemberVisitor = void (*)(void*, std::string_view, JsonValue);
  using ElementVisitor = void (*)(void*, JsonValue);
  void visitMembers(MemberVisitor visit, void* context) const;
  void visitElements(ElementVisitor visit, void* context) const;

  // A simdjson element; its type is hidden in the .cpp file. All zero: missing.
  std::array<std::uintptr_t, 2> element_{};
};

// A parsed, read-only JSON text; its strings are views into it. Clusters have tens of thousands of pods, and
// simdjson's tree reads one in a tenth of the time of a tree of maps. No value is ever modified.
class JsonDocument {
 public:
  // kInvalid if the text is not JSON, is larger than 16 MiB or is nested deeper than 64 levels.
  [[nodiscard]] static base::Result<JsonDocument> parse(std::string_view text);
  // As parse(), but for objects of the API server, which may nest deeper: values below kReadDepth are read as
  // null.
  [[nodiscard]] static base::Result<JsonDocument> parseObject(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  [[nodiscard]] JsonValue root() const { return root_; }

 private:
  struct Impl;
  explicit JsonDocument(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  JsonValue root_;
};

// All fields that are read lie far above this depth: a job nests to level 4 before its template begins, and a
// real template needs about 15 more levels.
inline constexpr std::size_t kReadDepth = 48;

// Returns the text with every value below `maxDepth` levels replaced by null; nullopt if nothing is that
// deep. Users may nest a template without limit, and a pod's managed fields nearly so. Neither may make the
// whole object unreadable, because a pod that is missing from the cache still holds its GPUs.
[[nodiscard]] std::optional<std::string> pruneDeepValues(std::string_view text, std::size_t maxDepth);

}  // namespace trainyard::codec
