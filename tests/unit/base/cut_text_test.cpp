#include <string>

#include <catch2/catch.hpp>

#include "base/cut_text.h"

using trainyard::base::cutText;

TEST_CASE("text is cut to a number of bytes and never inside a character") {
  CHECK(cutText("abc", 3) == "abc");
  CHECK(cutText("abc", 2) == "ab");
  CHECK(cutText("abc", 0).empty());
  CHECK(cutText("aé", 2) == "a");
  CHECK(cutText("aé", 3) == "aé");
  CHECK(cutText("𝄞𝄞", 7) == "𝄞");
  CHECK(cutText("é", 1).empty());
}
