#include <catch2/catch.hpp>

#include "codec/delete_options.h"
#include "codec/json_limits.h"
#include "codec/list.h"
#include "codec/status.h"

using namespace trainyard;
using base::ErrorCode;
using codec::WatchEventType;

TEST_CASE("status objects become errors whose code states the reaction") {
  const auto codeOf = [](int status, const std::string& reason) {
    const std::string body = R"({"kind":"Status","code":)" + std::to_string(status) + R"(,"reason":")" +
                             reason + R"(","message":"m"})";
    return codec::errorFromAnswer(status, body, "GET /x").code;
  };
  CHECK(codeOf(400, "BadRequest") == ErrorCode::kInvalid);
  CHECK(codeOf(401, "Unauthorized") == ErrorCode::kUnauthorized);
  CHECK(codeOf(403, "Forbidden") == ErrorCode::kForbidden);
  CHECK(codeOf(404, "NotFound") == ErrorCode::kNotFound);
  CHECK(codeOf(405, "MethodNotAllowed") == ErrorCode::kUnsupported);
  CHECK(codeOf(409, "Conflict") == ErrorCode::kConflict);
  CHECK(codeOf(409, "AlreadyExists") == ErrorCode::kAlreadyExists);
  CHECK(codeOf(410, "Expired") == ErrorCode::kExpired);
  CHECK(codeOf(415, "UnsupportedMediaType") == ErrorCode::kUnsupported);
  CHECK(codeOf(422, "Invalid") == ErrorCode::kInvalid);
  CHECK(codeOf(429, "TooManyRequests") == ErrorCode::kThrottled);
  CHECK(codeOf(500, "InternalError") == ErrorCode::kOutcomeUnknown);
  CHECK(codeOf(503, "ServiceUnavailable") == ErrorCode::kOutcomeUnknown);
  CHECK(codeOf(504, "Timeout") == ErrorCode::kOutcomeUnknown);
}

TEST_CASE("an error names the request and the reason and the fields at fault") {
  const std::string body =
      R"({"kind":"Status","code":422,"reason":"Invalid","message":"Pod \"p\" is invalid",)"
      R"("details":{"causes":[{"reason":"FieldValueInvalid","message":"must be positive","field":"spec.x"}]}})";
  const base::Error error = codec::errorFromAnswer(422, body, "POST /api/v1/namespaces/ml/pods");
  CHECK(error.reason == "Invalid");
  CHECK(error.message ==
        "POST /api/v1/namespaces/ml/pods: 422 Invalid: Pod \"p\" is invalid; spec.x: must be positive");
}

TEST_CASE("an object that is too large to be stored is refused with any code") {
  const std::string body = R"({"kind":"Status","code":500,"message":"etcdserver: request is too large"})";
  const base::Error error = codec::errorFromAnswer(500, body, "PATCH /x");
  CHECK(error.code == ErrorCode::kInvalid);
  CHECK(codec::isTooLargeError(error));
  CHECK_FALSE(
      codec::isTooLargeError(codec::errorFromAnswer(422, R"({"kind":"Status","code":422})", "PATCH /x")));
}

TEST_CASE("an answer that is no Status is quoted and shortened") {
  const base::Error error = codec::errorFromAnswer(502, std::string(5000, 'x'), "GET /x");
  CHECK(error.code == ErrorCode::kOutcomeUnknown);
  CHECK(error.message.size() < 400);
  CHECK(codec::errorFromAnswer(404, "404 page not found", "GET /y").message.find("404 page not found") !=
        std::string::npos);
}

TEST_CASE("a throttling status carries its delay") {
  const std::string body =
      R"({"kind":"Status","code":429,"reason":"TooManyRequests","details":{"retryAfterSeconds":7}})";
  CHECK(codec::errorFromAnswer(429, body, "GET /x").retryAfter == std::chrono::seconds(7));
}

TEST_CASE("a list is cut into the texts of its items") {
  const auto list = codec::decodeList(
      R"({"kind":"PodList","metadata":{"resourceVersion":"12","continue":"abc"},)"
      R"("items":[{"metadata":{"name":"a"},"n":1.50,"s":"br]ace}\""}, {"metadata":{"name":"b"}}]})");
  REQUIRE(list);
  CHECK(list->resourceVersion == "12");
  CHECK(list->continueToken == "abc");
  REQUIRE(list->items.size() == 2);
  CHECK(list->items[0] == R"({"metadata":{"name":"a"},"n":1.50,"s":"br]ace}\""})");
  CHECK(list->items[1] == R"({"metadata":{"name":"b"}})");
}

TEST_CASE("empty lists are written in two ways") {
  for (const char* items : {"null", "[]"}) {
    const auto list =
        codec::decodeList(std::string(R"({"metadata":{"resourceVersion":"1"},"items":)") + items + "}");
    REQUIRE(list);
    CHECK(list->items.empty());
  }
}

TEST_CASE("text that is no list is refused") {
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  for (const std::string& body :
       {std::string(), std::string("<html>"), std::string("{"), std::string(R"({"items":[]})"),
        std::string(R"({"metadata":{"resourceVersion":"1"}})"),
        std::string(R"({"metadata":{"resourceVersion":"1"},"items":[1]})"),
        std::string(R"({"metadata":{"resourceVersion":"1"},"items":{}})"),
        R"({"metadata":{"resourceVersion":"1"},"items":[{"a":)" + deep + "}]}",
        std::string("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"a\":\"\xff\"}]}")}) {
    const auto list = codec::decodeList(body);
    REQUIRE_FALSE(list);
    CHECK(list.error().code == ErrorCode::kInvalid);
  }
}

TEST_CASE("an object nested deeply by its author is accepted") {
  const std::string deep = R"({"a":)" + std::string(9'000, '[') + std::string(9'000, ']') + "}";
  const auto list = codec::decodeList(R"({"metadata":{"resourceVersion":"1"},"items":[)" + deep + "]}");
  REQUIRE(list);
  CHECK(list->items == std::vector<std::string>{deep});
}

TEST_CASE("watch events") {
  const auto added = codec::decodeWatchEvent(
      R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","resourceVersion":"5"}}})");
  REQUIRE(added);
  CHECK(added->type == WatchEventType::kAdded);
  CHECK(added->resourceVersion == "5");
  CHECK(added->object == R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"5"}})");

  const auto bookmark = codec::decodeWatchEvent(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9","creationTimestamp":null}}})");
  REQUIRE(bookmark);
  CHECK(bookmark->type == WatchEventType::kBookmark);
  CHECK(bookmark->resourceVersion == "9");
  CHECK(bookmark->object.empty());

  const auto error = codec::decodeWatchEvent(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})");
  REQUIRE(error);
  REQUIRE(error->status);
  CHECK(error->status->code == 410);
}

TEST_CASE("a line that is no watch event is refused") {
  for (const char* line :
       {"", "null", "[]", "{", R"({"type":"ADDED"})", R"({"type":"ADDED","object":null})",
        R"({"type":"ADDED","object":{"metadata":{}}})", R"({"type":"SENT","object":{}})", R"({"object":{}})",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}})",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"5"},"x":tru}})",
        R"({"type":"ERROR","object":{"kind":"Pod"}})"}) {
    INFO(line);
    CHECK_FALSE(codec::decodeWatchEvent(line));
  }
}

TEST_CASE("depth and size are bounded before a tree is built") {
  CHECK(codec::checkJsonLimits(R"({"a":"[[[[[[[[[["})", {.maxDepth = 2}));
  CHECK(codec::checkJsonLimits("[[1],[2]]", {.maxDepth = 2}));
  CHECK_FALSE(codec::checkJsonLimits("[[[1]]]", {.maxDepth = 2}));
  CHECK_FALSE(codec::checkJsonLimits("[1,2,3]", {.maxBytes = 5}));
  CHECK(codec::checkJsonLimits(R"(["\"[[[["])", {.maxDepth = 1}));
}

TEST_CASE("delete options have what was requested and no more") {
  CHECK(codec::encode({}) == R"({"apiVersion":"v1","kind":"DeleteOptions"})");
  CHECK(codec::encode({.uid = "u", .gracePeriodSeconds = 0, .propagationPolicy = "Background"}) ==
        R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},)"
        R"("gracePeriodSeconds":0,"propagationPolicy":"Background"})");
}
