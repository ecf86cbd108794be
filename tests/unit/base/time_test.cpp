#include "base/time.h"

#include <catch2/catch.hpp>

using namespace trainyard::base;  // NOLINT(google-build-using-namespace): test

namespace {

std::string roundTrip(std::string_view text) {
  const auto parsed = parseTime(text);
  INFO(text);
  REQUIRE(parsed);
  return formatMicroTime(*parsed);
}

}  // namespace

TEST_CASE("times: the two forms that the API uses") {
  const WallTime time = parseTime("2026-11-21T09:00:00.123456Z").value();
  CHECK(formatTime(time) == "2026-11-21T09:00:00Z");
  CHECK(formatMicroTime(time) == "2026-11-21T09:00:00.123456Z");
}

TEST_CASE("times: fractions and offsets") {
  CHECK(roundTrip("2026-11-21T09:00:00Z") == "2026-11-21T09:00:00.000000Z");
  CHECK(roundTrip("2026-11-21T09:00:00.5Z") == "2026-11-21T09:00:00.500000Z");
  CHECK(roundTrip("2026-11-21T09:00:00.123456789Z") == "2026-11-21T09:00:00.123456Z");
  CHECK(roundTrip("2026-11-21T09:00:00+02:30") == "2026-11-21T06:30:00.000000Z");
  CHECK(roundTrip("2026-11-21T23:30:00-01:00") == "2026-11-22T00:30:00.000000Z");
  CHECK(roundTrip("2024-02-29t00:00:00z") == "2024-02-29T00:00:00.000000Z");
}

TEST_CASE("times: before 1970 whole seconds round down") {
  CHECK(formatTime(WallTime{std::chrono::microseconds{-1}}) == "1969-12-31T23:59:59Z");
  CHECK(formatMicroTime(WallTime{std::chrono::microseconds{-1}}) == "1969-12-31T23:59:59.999999Z");
}

TEST_CASE("times: a leap second is the next minute") {
  CHECK(roundTrip("2016-12-31T23:59:60Z") == "2017-01-01T00:00:00.000000Z");
}

TEST_CASE("times: anything else is refused with its text") {
  for (const char* text :
       {"", "2026", "2026-11-21", "2026-11-21 09:00:00Z", "2026-11-21T09:00Z", "2026-11-21T09:00:00",
        "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T09:60:00Z", "2026-11-21T09:00:61Z", "2026-11-21T09:00:00.Z", "2026-11-21T09:00:00+2:00",
        "2026-11-21T09:00:00+24:00", "2026-11-21T09:00:00Zx", "x026-11-21T09:00:00Z", "+026-11-21T09:00:00Z",
        "2026-11-21T"}) {
    INFO(text);
    const auto parsed = parseTime(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::kInvalid);
  }
  // Times that cannot be formatted again.
  for (const char* text :
       {"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01"}) {
    CHECK_FALSE(parseTime(text));
  }
  CHECK(parseTime("nonsense").error().message == "\"nonsense\" is not an RFC 3339 time");
}
