#include "cli/table.h"
#include "cli/plain_text.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace {

using namespace trainyard;
using namespace std::chrono_literals;

TEST_CASE("columns are as wide as their widest cell and have no trailing spaces") {
  CHECK(cli::formatTable({{"NAME", "PHASE"}, {"bert", ""}, {"gpt-large", "Running"}}) ==
        "NAME        PHASE\n"
        "bert\n"
        "gpt-large   Running\n");
  CHECK(cli::formatTable({}).empty());
}

TEST_CASE("tenants' text moves no cursor and makes no rows") {
  CHECK(cli::formatTable({{"WHY"},
                          {"\x1b[2Jfine\nforged\x07 \xC2\x9B"
                           "1m\x7f"}}) == "WHY\n [2Jfine forged   1m\n");
  CHECK(cli::plainText("a\n\tb\r\xC3\xA4", true) == "a\n b \xC3\xA4");
}

TEST_CASE("tenants' text changes no reading order and hides nothing") {
  for (const std::string_view hidden :
       {"\u061C", "\u200B", "\u200E", "\u200F", "\u202A", "\u202E", "\u2060", "\u2066", "\u2069", "\uFEFF",
        "\u00AD", "\u180E", "\U000E0041", "\U000E007F", "\U0001D173"})
    CHECK(cli::plainText(fmt::format("a{}b", hidden), true) == "ab");
  for (const std::string_view breaks : {"\u2028", "\u2029", "\u0085", "\x9B", "\xE2\x80", "\xFF"})
    CHECK(cli::plainText(fmt::format("a{}b", breaks), true).find_first_not_of("ab ") == std::string::npos);
  CHECK(cli::plainText("Jürgen 数据 🚂 عربي", true) == "Jürgen 数据 🚂 عربي");
}

TEST_CASE("ages are short") {
  const base::WallTime start{};
  const auto age = [&](auto span) { return cli::formatAge(start, start + span); };
  CHECK(age(0s) == "0s");
  CHECK(age(119s) == "119s");
  CHECK(age(2min) == "2m");
  CHECK(age(59min) == "59m");
  CHECK(age(1h) == "1h");
  CHECK(age(3h + 20min + 59s) == "3h20m");
  CHECK(age(10h + 20min) == "10h");
  CHECK(age(49h) == "2d");
  CHECK(age(-5s) == "0s");
}

}  // namespace
