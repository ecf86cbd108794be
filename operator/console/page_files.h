#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace trainyard::operator_::console {

// Name and text of every file of operator/console/static; written by cmake/embed.cmake when it is built.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> pageFiles();

}  // namespace trainyard::operator_::console
