#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/plain_text.h"
#include "codec/list.h"
#include "codec/object_meta.h"

namespace trainyard::cli {

template <typename T>
struct DecodedItems {
  std::vector<T> items;
  std::vector<std::string> skipped;  // "TrainingJob ml/a cannot be read and is left out: …", one for each
};

// An object that this version cannot read must not hide all others: any user may have written it.
template <typename Decode>
[[nodiscard]] auto decodeItems(const codec::ObjectList& list, std::string_view kind, Decode decode) {
  using T = typename std::decay_t<decltype(decode(list.items.front()))>::value_type;
  DecodedItems<T> decoded;
  for (const std::string& item : list.items) {
    auto object = decode(item);
    if (object) {
      decoded.items.push_back(std::move(*object));
      continue;
    }
    const auto meta = codec::decodeObjectMeta(item);
    const std::string name = !meta              ? "without a name"
                             : meta->ns.empty() ? meta->name
                                                : fmt::format("{}/{}", meta->ns, meta->name);
    decoded.skipped.push_back(
        fmt::format("{} {} cannot be read and is ignored: {}", kind, name, object.error().message));
  }
  return decoded;
}

inline void warnOf(const std::vector<std::string>& skipped) {
  for (const std::string& each : skipped) fmt::print(stderr, "trainyard: {}\n", plainText(each, false));
}

}  // namespace trainyard::cli
