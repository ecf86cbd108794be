#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/time.h"
#include "codec/json_value.h"

namespace trainyard::codec {

// Collects the errors of reading one object: the first complaint, with the path of its field. Readers
// continue with defaults after a complaint, so they need no check after each field. The function that started
// the reading checks once, at the end.
class FieldErrors {
 public:
  // `quantities`: kSaturate for objects that others write. The API server accepts quantities beyond our
  // range, and the cache must not lose a pod or a node for one of them.
  explicit FieldErrors(base::OutOfRange quantities = base::OutOfRange::kRefuse) : quantities_(quantities) {}

  [[nodiscard]] bool any() const { return !first_.empty(); }
  // "spec.containers[0].name: expected a string, is 5"; empty if there is no complaint.
  [[nodiscard]] const std::string& first() const { return first_; }
  // Returns true if the first complaint is about a field of this name, or about a field inside it.
  [[nodiscard]] bool firstIn(std::string_view name) const;

 private:
  friend class Field;
  struct Step {
    int parent = -1;
    std::string_view name;  // empty for the root and for elements
    int index = -1;         // of an element
    bool bracketed = false;
  };
  std::string pathOf(int step) const;

  base::OutOfRange quantities_;
  std::vector<Step> steps_;
  std::string first_;
  int firstStep_ = -1;
};

// A JSON value with its path, for complaints that name the field. Absent and null are equivalent. Names
// passed to operator[] must outlive `errors`; string literals are intended.
class Field {
 public:
  Field(JsonValue root, FieldErrors& errors, std::string_view rootPath = {});

  [[nodiscard]] const JsonValue& value() const { return value_; }
  [[nodiscard]] bool present() const { return value_.present(); }
  // Complains if this value is present and not an object.
  [[nodiscard]] Field operator[](std::string_view name) const;

  // Each returns the default if the value is absent, and complains about a value of another type.
  [[nodiscard]] std::string_view text(std::string_view whenAbsent = {}) const;
  [[nodiscard]] std::string string() const { return std::string(text()); }
  [[nodiscard]] std::int64_t integer(std::int64_t whenAbsent, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] int smallInteger(int whenAbsent, int least, int most = std::numeric_limits<int>::max()) const;
  [[nodiscard]] bool boolean(bool whenAbsent) const;
  [[nodiscard]] std::optional<base::WallTime> time() const;
  // A string or a number, as in resource lists. Beyond the range, the errors' rule for quantities decides.
  [[nodiscard]] base::Quantity quantity() const;
  // Returns true if quantities beyond the range saturate.
  [[nodiscard]] bool saturates() const { return errors_->quantities_ == base::OutOfRange::kSaturate; }
  // Returns the text, and complains if it is absent.
  [[nodiscard]] std::string_view required() const;

  // Calls visit(Field) for every element; complains if the value is present and not an array.
  template <typename Visit>
  void forEachElement(Visit&& visit) const {
    if (!expect(JsonType::kArray, "a list")) return;
    int index = 0;
    value_.forEachElement([&](JsonValue element) { visit(childAt(element, index++)); });
  }
  // As forEachElement(), but visits only the first `most` elements and complains if there are more.
  template <typename Visit>
  void forEachUpTo(std::size_t most, Visit&& visit) const {
    std::size_t count = 0;
    forEachElement([&](const Field& element) {
      if (++count <= most) visit(element);
    });
    if (count > most) complain(fmt::format("has {} entries: at most {} are allowed", count, most));
  }
  // Calls visit(name, Field) for every member of a map; complains if the value is present and not an object.
  template <typename Visit>
  void forEachMember(Visit&& visit) const {
    if (!expect(JsonType::kObject, "an object")) return;
    value_.forEachMember(
        [&](std::string_view name, JsonValue member) { visit(name, childIn(member, name)); });
  }

  // The same element, shown in paths with a name instead of its index: roles[worker].
  [[nodiscard]] Field named(std::string_view name) const;
  // Records a complaint about this field unless an earlier one exists.
  void complain(std::string_view what) const;
  // Returns true if there was any complaint, about this field or another.
  [[nodiscard]] bool anyComplaint() const { return errors_->any(); }
  // complain() with the value appended: `must be Never or absent, is "Always"`.
  void refuse(std::string_view what) const;

 private:
  Field(JsonValue value, FieldErrors& errors, int step) : value_(value), errors_(&errors), step_(step) {}
  [[nodiscard]] bool expect(JsonType type, std::string_view what) const;
  [[nodiscard]] Field childAt(JsonValue element, int index) const;
  [[nodiscard]] Field childIn(JsonValue member, std::string_view name) const;

  JsonValue value_;
  FieldErrors* errors_;
  int step_ = -1;
};

}  // namespace trainyard::codec
