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

// A place in a JsonDocument; two words, copied freely, valid as long as the document. Reading is forgiving: a
// member of something that is no object is missing, and every accessor of the wrong type gives nothing.
class JsonValue {
 public:
  JsonValue() = default;

  [[nodiscard]] JsonType type() const;
  // Neither missing nor null: Kubernetes treats both alike.
  [[nodiscard]] bool present() const;
  // The first member of that name, missing when there is none.
  [[nodiscard]] JsonValue find(std::string_view key) const;

  [[nodiscard]] std::optional<std::string_view> string() const;
  // Integers only; a number beyond int64 is none.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;

  // The value as JSON without spaces, members in their order.
  [[nodiscard]] std::string minified() const;
  // The same with members sorted by name: equal values have equal texts.
  [[nodiscard]] std::string canonical() const;

  // Calls visit(key, value) for every member of an object, in order; nothing for other types.
  template <typename Visit>
  void forEachMember(Visit&& visit) const {
    visitMembers([](void* context, std::string_view key,
                    JsonValue value) { (*static_cast<Visit*>(context))(key, value); },
                 const_cast<void*>(static_cast<const void*>(&visit)));
  }
  // Calls visit(value) for every element of an array, in order; nothing for other types.
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

  // A simdjson element, whose type stays in the .cpp. All zero: missing.
  std::array<std::uintptr_t, 2> element_{};
};

// A parsed JSON text, read only; its strings are views into it. simdjson's tree, because pods come by the ten
// thousand: reading one takes a tenth of what a tree of maps costs, and no value is ever changed in place.
class JsonDocument {
 public:
  // kInvalid when the text is not JSON, larger than 16 MiB or nested deeper than 64 levels.
  [[nodiscard]] static base::Result<JsonDocument> parse(std::string_view text);
  // The same of an object of the API server's, whose depth is nobody's choice: what is below kReadDepth is
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

// What an object has that is read by anybody lies far above this: a job nests to level 4 before its template
// begins, and a real template needs some 15 more.
inline constexpr std::size_t kReadDepth = 48;

// The text with every value below `maxDepth` levels replaced by null; absent when nothing is that deep. What
// users write into a template may nest without limit, and into a pod's managed fields nearly so; neither must
// make the whole object unreadable: a pod that nobody sees holds its GPUs all the same.
[[nodiscard]] std::optional<std::string> pruneDeepValues(std::string_view text, std::size_t maxDepth);

}  // namespace trainyard::codec
