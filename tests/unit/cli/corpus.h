#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Manifests of a folder of tests, as users write them. Each begins with its expectations, "# WHAT: WORDS".
namespace trainyard::cli {

struct Expected {
  std::string what;  // "exit", "changed", "has", …
  std::string words;
};

// The files of tests/FOLDER, in order.
[[nodiscard]] std::vector<std::filesystem::path> corpusOf(const std::string& folder);
[[nodiscard]] std::string readAll(const std::filesystem::path& path);
[[nodiscard]] std::vector<std::string> linesOf(const std::string& text);
// Other comments are not expectations.
[[nodiscard]] std::vector<Expected> expectationsOf(const std::string& text);

// Returns the first object of this kind in the output, as kubectl reads it, as JSON; "null" without one. An
// empty kind stands for any.
[[nodiscard]] std::string firstObjectOf(const std::string& yaml, const std::string& kind);

// Checks "has" and "lacks" of the object, and "text" of the output. Returns false for other expectations.
[[nodiscard]] bool checkObject(const Expected& expected, const std::string& object,
                               const std::string& output);

}  // namespace trainyard::cli
