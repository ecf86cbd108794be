#pragma once

#include <string_view>

#include "codec/field.h"

namespace trainyard::codec {

// The field with this path below `root`: "spec.runPolicy". An empty path names `root` itself.
[[nodiscard]] inline Field fieldAt(const Field& root, std::string_view path) {
  Field field = root;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    field = field[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return field;
}

}  // namespace trainyard::codec
