#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::codec {

// One value of a YAML file, with the line it stands in. Aliases and merge keys ("<<") are resolved. Scalars
// stay texts: what they mean is up to the caller (codec/yaml_scalar.h).
struct YamlValue {
  enum class Kind { kNull, kText, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;  // from 1; 0 for what is not there
  std::string text = {};
  bool quoted = false;  // the text is one whatever it looks like
  std::vector<YamlValue> items = {};
  std::vector<std::pair<std::string, YamlValue>> members = {};  // in their order, no name twice
};

// The file's one document; kNull for an empty file. kInvalid says "FILE:LINE: …" for what is no YAML, for a
// second document, a key that is there twice or no text, and for more than 1 MiB, 10,000 values or 32 levels.
[[nodiscard]] base::Result<YamlValue> parseYamlValue(const std::string& text, const std::string& file);

// Every document of the file that is not empty; else as parseYamlValue().
[[nodiscard]] base::Result<std::vector<YamlValue>> parseYamlDocuments(const std::string& text,
                                                                      const std::string& file);

// What went wrong while one file was read: the first complaint. Readers go on with defaults after it and ask
// once, at the end.
class YamlComplaint {
 public:
  explicit YamlComplaint(std::string file) : file_(std::move(file)) {}
  // "policy.yaml:12: relaxation.perGpu: must be …"; empty when all went well.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class YamlField;
  std::string file_;
  std::string text_;
};

// A value together with where it is, for reading with complaints that name line and field. Must not outlive
// the value or the complaint.
class YamlField {
 public:
  YamlField(const YamlValue& root, YamlComplaint& complaint) : value_(&root), complaint_(&complaint) {}

  // Whether the key is there and has a value.
  [[nodiscard]] bool present() const { return value_ != nullptr && value_->kind != YamlValue::Kind::kNull; }
  // Complains about everything but a map with some of these keys. A map without a value counts as empty.
  void expectKeys(std::initializer_list<std::string_view> known) const;
  // A member of a map; not present when there is none. A key without a value is complained about.
  [[nodiscard]] YamlField operator[](std::string_view key) const;
  // The same, where a key without a value stands for an empty map or list: all below it may be commented out.
  [[nodiscard]] YamlField section(std::string_view key) const;

  // The scalar. Empty, with a complaint, for maps and lists; empty for what is not present.
  [[nodiscard]] std::string_view text() const;
  // The same, where a number or a bool is wanted: as JSON writes it ("256" of 0400, "true" of yes).
  [[nodiscard]] std::string scalar() const;
  // visit(YamlField) for every element of a list; a complaint for anything else that is present.
  template <typename Visit>
  void forEachElement(Visit&& visit) const {
    if (!present()) return;
    if (value_->kind != YamlValue::Kind::kList) return complain("must be a list");
    for (std::size_t i = 0; i < value_->items.size(); ++i) visit(childAt(value_->items[i], i));
  }
  [[nodiscard]] bool isList() const { return present() && value_->kind == YamlValue::Kind::kList; }

  // Records a complaint about this field unless there is an earlier one.
  void complain(std::string_view what) const;
  // complain(), with the text: "must be a duration such as 90s, not 5".
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
  int line_ = 1;  // of the nearest value above, for what is absent
};

}  // namespace trainyard::codec
