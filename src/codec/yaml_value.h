#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::codec {

// One value of a YAML file, with its line. Aliases and merge keys ("<<") are resolved. Scalars stay texts:
// the caller interprets them (codec/yaml_scalar.h).
struct YamlValue {
  enum class Kind { kNull, kText, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;  // from 1; 0 if absent
  std::string text = {};
  bool quoted = false;  // the scalar is a text whatever it looks like
  std::vector<YamlValue> items = {};
  std::vector<std::pair<std::string, YamlValue>> members = {};  // in their order, names unique
};

// Parses the file's only document; kNull for an empty file. kInvalid ("FILE:LINE: …") is for invalid YAML, a
// second document, duplicate or non-text keys, and for more than 1 MiB, 10,000 values or 32 levels.
[[nodiscard]] base::Result<YamlValue> parseYamlValue(const std::string& text, const std::string& file);

// Parses every document of the file that is not empty; otherwise as parseYamlValue().
[[nodiscard]] base::Result<std::vector<YamlValue>> parseYamlDocuments(const std::string& text,
                                                                      const std::string& file);

// Collects the errors of reading one file: the first complaint. Readers continue with defaults after it and
// check once, at the end.
class YamlComplaint {
 public:
  explicit YamlComplaint(std::string file) : file_(std::move(file)) {}
  // "policy.yaml:12: relaxation.perGpu: must be …"; empty if there is no complaint.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class YamlField;
  std::string file_;
  std::string text_;
};

// A value with its path, for complaints that name line and field. It must not outlive the value or the
// complaint.
class YamlField {
 public:
  YamlField(const YamlValue& root, YamlComplaint& complaint) : value_(&root), complaint_(&complaint) {}

  // Returns true if the key exists and has a value.
  [[nodiscard]] bool present() const { return value_ != nullptr && value_->kind != YamlValue::Kind::kNull; }
  // Complains unless the value is a map with a subset of these keys. A map without a value counts as empty.
  void expectKeys(std::initializer_list<std::string_view> known) const;
  // A member of a map; not present if there is none. Complains about a key without a value.
  [[nodiscard]] YamlField operator[](std::string_view key) const;
  // As operator[], but a key without a value counts as empty: everything below it may be commented out.
  [[nodiscard]] YamlField section(std::string_view key) const;

  // The scalar. Empty, with a complaint, for maps and lists; empty if the value is absent.
  [[nodiscard]] std::string_view text() const;
  // As text(), for a number or a bool: in JSON notation ("256" for 0400, "true" for yes).
  [[nodiscard]] std::string scalar() const;
  // Calls visit(YamlField) for every element of a list; complains about any other value.
  template <typename Visit>
  void forEachElement(Visit&& visit) const {
    if (!present()) return;
    if (value_->kind != YamlValue::Kind::kList) return complain("must be a list");
    for (std::size_t i = 0; i < value_->items.size(); ++i) visit(childAt(value_->items[i], i));
  }
  [[nodiscard]] bool isList() const { return present() && value_->kind == YamlValue::Kind::kList; }

  // Records a complaint about this field unless an earlier one exists.
  void complain(std::string_view what) const;
  // complain() with the text appended: "must be a duration such as 90s, not 5".
  void refuse(std::string_view what) const;

 private:
  YamlField(const YamlValue* value, YamlComplaint& complaint, std::string path, int line)
      : value_(value), complaint_(&complaint), path_(std::move(path)), line_(line) {}
  [[nodiscard]] YamlField childAt(const YamlValue& item, std::size_t index) const;
  [[nodiscard]] std::string pathOf(std::string_view key) const;
  [[nodiscard]] int line() const { return value_ != nullptr ? value_->line : line_; }

  const YamlValue* value_;  // null when absent
  YamlComplaint* complaint_;
  std::string path_ = {};
  int line_ = 1;  // of the nearest existing ancestor, for an absent value
};

}  // namespace trainyard::codec
