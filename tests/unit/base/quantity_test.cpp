#include "base/quantity.h"

#include <catch2/catch.hpp>

#include <string>

using trainyard::base::ErrorCode;
using trainyard::base::OutOfRange;
using trainyard::base::Quantity;

namespace {

std::int64_t milli(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  INFO(text);
  REQUIRE(parsed);
  return parsed->milli();
}

std::string refusal(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::kInvalid);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("quantities: plain numbers and fractions") {
  CHECK(milli("0") == 0);
  CHECK(milli("8") == 8000);
  CHECK(milli("+8") == 8000);
  CHECK(milli("-8") == -8000);
  CHECK(milli("0.5") == 500);
  CHECK(milli(".5") == 500);
  CHECK(milli("5.") == 5000);
  CHECK(milli("000012") == 12'000);
}

TEST_CASE("quantities: suffixes") {
  CHECK(milli("500m") == 500);
  CHECK(milli("2k") == 2'000'000);
  CHECK(milli("1M") == 1'000'000'000);
  CHECK(milli("1Ki") == 1'024'000);
  CHECK(milli("1.5Gi") == 1'610'612'736'000);
  CHECK(milli("1Ti") == 1'099'511'627'776'000);
  CHECK(milli("2e3") == 2'000'000);
  CHECK(milli("2E3") == 2'000'000);
  CHECK(milli("25e-1") == 2500);
  // "E" alone is exa, "Ei" its binary counterpart: both exceed the range unless the number is small.
  CHECK(milli("0.001E") == 1'000'000'000'000'000'000);
}

TEST_CASE("quantities: a part finer than a thousandth rounds up as in the API server") {
  CHECK(milli("1n") == 1);
  CHECK(milli("1u") == 1);
  CHECK(milli("1500u") == 2);
  CHECK(milli("0.0001") == 1);
  CHECK(milli("-1u") == -1);
  CHECK(milli("0n") == 0);
}

TEST_CASE("quantities: invalid text is refused and quoted") {
  for (const char* text : {"", "-", "+", ".", "abc", "GiB", "m", "e3", " 1", "NaN", "Inf", "--1"}) {
    CHECK(refusal(text).find("not a number") != std::string::npos);
  }
  for (const char* text : {"1 ", "1x", "1KiB", "1ki", "1K", "1gi", "1e", "1e+", "1e-19", "1e9x", "1.2.3",
                           "1,5", "0x10", "1mm", "1\xff"}) {
    CHECK(refusal(text).find("unknown suffix") != std::string::npos);
  }
  CHECK(refusal("12x").find("\"12x\"") != std::string::npos);
}

TEST_CASE("quantities: out of range is an error and never a small number") {
  for (const char* text : {"9223372036854775807", "10E", "8Ei", "1e18", "9e17k", "1e19", "1e999"}) {
    CHECK_FALSE(refusal(text).empty());
  }
  CHECK(milli("0e999") == 0);
  CHECK(refusal(std::string(40, '9')).find("too many digits") != std::string::npos);
  CHECK(milli("9223372036854775") == 9'223'372'036'854'775'000);
  refusal("9223372036854776");
}

TEST_CASE("quantities: of objects that others write are at most the largest value") {
  const auto saturated = [](std::string_view text) { return Quantity::parse(text, OutOfRange::kSaturate); };
  for (const std::string& text :
       {std::string("10P"), std::string("9Ei"), std::string("1e19"), std::string("1e999"),
        std::string("9223372036854775807"), std::string("10E"), std::string("12345678901234567890Ei"),
        std::string(40, '9'), std::string(400, '9') + "m"}) {
    INFO(text);
    REQUIRE(saturated(text));
    CHECK(saturated(text)->milli() == 9'223'372'036'854'775'000);
    CHECK(saturated(text)->unitsRoundedUp() == saturated(text)->unitsRoundedDown());
    CHECK(saturated("-" + text)->milli() == -9'223'372'036'854'775'000);
  }
  CHECK(saturated("1500m")->milli() == 1500);
  CHECK(saturated("9P")->milli() == 9'000'000'000'000'000'000);
  for (const char* text : {"", "abc", "10Px", "1.2.3"}) CHECK_FALSE(saturated(text));
}

TEST_CASE("quantities: absurdly long input is cut in the message") {
  CHECK(refusal(std::string(1'000'000, 'x')).size() < 200);
  // Endless digits after the point are refused instead of rounded, because they have no practical use.
  refusal("0." + std::string(1'000'000, '0') + "1");
}

TEST_CASE("quantities: rounding to units") {
  CHECK(Quantity::parse("1500m")->unitsRoundedUp() == 2);
  CHECK(Quantity::parse("1500m")->unitsRoundedDown() == 1);
  CHECK(Quantity::parse("-1500m")->unitsRoundedUp() == -1);
  CHECK(Quantity::parse("-1500m")->unitsRoundedDown() == -2);
  CHECK(Quantity::parse("3")->unitsRoundedUp() == 3);
  CHECK(Quantity::parse("3")->unitsRoundedDown() == 3);
  CHECK(*Quantity::parse("999m") < *Quantity::parse("1"));
}
