#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::model {

// Member indices of one role, written compactly: "0-3,7". Sorted, without duplicates.
class IndexSet {
 public:
  IndexSet() = default;
  explicit IndexSet(std::vector<int> indices);
  // kInvalid for anything but ascending ranges of numbers from 0 to 99999.
  [[nodiscard]] static base::Result<IndexSet> parse(std::string_view text);

  [[nodiscard]] std::string str() const;
  [[nodiscard]] const std::vector<int>& values() const { return values_; }
  [[nodiscard]] bool contains(int index) const;
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  std::vector<int> values_;
};

}  // namespace trainyard::model
