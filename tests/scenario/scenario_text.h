#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The words of scenario files, and what can be wrong with one of them.
namespace trainyard::test {

using Words = std::vector<std::string>;

// One line that cannot be read; parseScenario() turns it into a Result, so that every reader stays flat.
struct Nonsense {
  std::string what;
};

[[noreturn]] void refuse(std::string what);

[[nodiscard]] Words splitWords(std::string_view line);
[[nodiscard]] std::string_view trimmed(std::string_view text);
// "gpus=8" as {"gpus", "8"}; "cordoned" as {"cordoned", ""}; "label:a=b" as {"label:a", "b"}.
[[nodiscard]] std::pair<std::string, std::string> splitAttribute(const std::string& word);
// What follows `prefix`, where `text` begins with it.
[[nodiscard]] std::optional<std::string> after(std::string_view prefix, const std::string& text);

// All of these refuse what they cannot read, naming `what` and the text.
[[nodiscard]] int readInt(std::string_view text, std::string_view what);
[[nodiscard]] bool readYesNo(std::string_view text, std::string_view what);
// "90s", "1m30s", "2h"; whole seconds.
[[nodiscard]] std::chrono::seconds readDuration(std::string_view text, std::string_view what);
// Adds "n3", or with "n3..n7" all five: the digits at the end count up, keeping their width.
void expandNames(const std::string& word, Words& names);

// Resource names of Kubernetes and their quantities, as written.
using Amounts = std::vector<std::pair<std::string, std::string>>;
// gpus=, cpu=, memory=, storage=, pods= and resource:NAME=; false when the attribute is none of them. A
// second amount of the same resource replaces the first.
[[nodiscard]] bool readAmount(const std::string& name, const std::string& value, Amounts& amounts);

}  // namespace trainyard::test
