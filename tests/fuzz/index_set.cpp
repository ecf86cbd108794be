#include "model/index_set.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void indexSet(std::string_view input) {
  const auto set = model::IndexSet::parse(input);
  if (!set) return;
  const std::string text = set->str();
  const auto again = model::IndexSet::parse(text);
  require(again && *again == *set, "written indices read again as the same");
  require(text.size() <= input.size(), "indices are written as shortly as they can be");
}

}  // namespace trainyard::fuzz
