#include "model/index_set.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace trainyard::model {
namespace {

constexpr int kMaxIndex = 99'999;

bool readNumber(std::string_view& text, int& out) {
  if (text.starts_with('-')) return false;  // from_chars would accept "-0"
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure != std::errc{} || out < 0 || out > kMaxIndex) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

IndexSet::IndexSet(std::vector<int> indices) : values_(std::move(indices)) {
  if (!std::is_sorted(values_.begin(), values_.end())) std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
}

base::Result<IndexSet> IndexSet::parse(std::string_view text) {
  const auto refuse = [whole = text] {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("indices \"{}\": expected e.g. 0-3,7", whole.substr(0, 64)));
  };
  IndexSet set;
  while (!text.empty()) {
    int first = 0;
    if (!readNumber(text, first)) return refuse();
    int last = first;
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      if (!readNumber(text, last)) return refuse();
    }
    if (last < first || (!set.values_.empty() && first <= set.values_.back())) return refuse();
    for (int index = first; index <= last; ++index) set.values_.push_back(index);
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return refuse();
    text.remove_prefix(1);
  }
  return set;
}

std::string IndexSet::str() const {
  std::string out;
  for (std::size_t i = 0; i < values_.size();) {
    std::size_t end = i;
    while (end + 1 < values_.size() && values_[end + 1] == values_[end] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end == i ? fmt::to_string(values_[i]) : fmt::format("{}-{}", values_[i], values_[end]);
    i = end + 1;
  }
  return out;
}

bool IndexSet::contains(int index) const { return std::binary_search(values_.begin(), values_.end(), index); }

}  // namespace trainyard::model
