#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The tokens of scenario files and their errors.
namespace trainyard::test {

using Words = std::vector<std::string>;

// An unreadable line; parseScenario() turns it into a Result, so that every reader stays simple.
struct Nonsense {
  std::string what;
};

[[noreturn]] void refuse(std::string what);

[[nodiscard]] Words splitWords(std::string_view line);
[[nodiscard]] std::string_view trimmed(std::string_view text);
// Splits "gpus=8" into {"gpus", "8"}; "cordoned" into {"cordoned", ""}; "label:a=b" into {"label:a", "b"}.
[[nodiscard]] std::pair<std::string, std::string> splitAttribute(const std::string& word);
// Returns the text after `prefix` if `text` begins with it.
[[nodiscard]] std::optional<std::string> after(std::string_view prefix, const std::string& text);

// All of these refuse an unreadable text, naming `what` and the text.
[[nodiscard]] int readInt(std::string_view text, std::string_view what);
[[nodiscard]] bool readYesNo(std::string_view text, std::string_view what);
// Reads "90s", "1m30s", "2h"; whole seconds.
[[nodiscard]] std::chrono::seconds readDuration(std::string_view text, std::string_view what);
// Adds "n3", or with "n3..n7" all five: the digits at the end count up and keep their width.
void expandNames(const std::string& word, Words& names);

// Kubernetes' resource names and their quantities, as written.
using Amounts = std::vector<std::pair<std::string, std::string>>;
// Reads gpus=, cpu=, memory=, storage=, pods= and resource:NAME=; returns false for any other attribute. A
// second amount of the same resource replaces the first one.
[[nodiscard]] bool readAmount(const std::string& name, const std::string& value, Amounts& amounts);

}  // namespace trainyard::test
