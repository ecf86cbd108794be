#include <catch2/catch.hpp>

#include "net/http.h"
#include "net/line_splitter.h"
#include "net/response_head.h"
#include "net/server.h"

namespace trainyard::net::test {
namespace {

TEST_CASE("Header names are found in any case and the first one wins") {
  const Headers headers = {{"Content-Type", "a"}, {"content-type", "b"}, {"Empty", ""}};
  CHECK(findHeader(headers, "CONTENT-TYPE") == "a");
  CHECK(findHeader(headers, "empty").empty());
  CHECK(findHeader(headers, "absent").empty());
  CHECK_FALSE(equalsWithoutCase("ab", "abc"));
}

TEST_CASE("A token is read as it is written") {
  CHECK(bearerToken({{"Authorization", "bearer a.b-c_d="}}) == "a.b-c_d=");
  CHECK(bearerToken({{"Authorization", "Basic abc"}}).empty());
  CHECK(bearerToken({{"Authorization", "Bearer a\nb"}}).empty());
  CHECK(bearerToken({{"Authorization", "Bearer " + std::string(9000, 'a')}}).empty());
}

TEST_CASE("A target is cut into path and query") {
  CHECK(ServerRequest{.target = "/a/b?c=d?e"}.path() == "/a/b");
  CHECK(ServerRequest{.target = "/a/b?c=d?e"}.query() == "c=d?e");
  CHECK(ServerRequest{.target = "/a"}.path() == "/a");
  CHECK(ServerRequest{.target = "/a"}.query().empty());
}

TEST_CASE("A stream of bytes gives the same lines however it is cut") {
  const std::string text = "one\ntwo\r\n\nlast";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineSplitter splitter(100);
    std::vector<std::string> lines;
    REQUIRE(splitter.feed(std::string_view(text).substr(0, cut), lines));
    REQUIRE(splitter.feed(std::string_view(text).substr(cut), lines));
    CHECK(lines == std::vector<std::string>{"one", "two", ""});
    CHECK(splitter.takeRest() == "last");
  }
}

TEST_CASE("Lines beyond the limit are refused whether complete or not") {
  std::vector<std::string> lines;
  CHECK(LineSplitter(4).feed("four\nfour\nfour", lines));
  CHECK_FALSE(LineSplitter(4).feed("fiver", lines));
  CHECK_FALSE(LineSplitter(4).feed("fiver\n", lines));
  LineSplitter pieces(4);
  CHECK(pieces.feed("abc", lines));
  CHECK_FALSE(pieces.feed("de", lines));
}

TEST_CASE("A response head cannot be extended by what a handler puts into it") {
  const HttpResponse response{
      .status = 200,
      .headers = {{"X-A", "1\r\nX-B: 2"}, {"content-length", "7"}, {"Transfer-Encoding", "gzip"}},
      .body = "abc"};
  CHECK(makeResponseHead(response, Framing::kLength, true) ==
        "HTTP/1.1 200 OK\r\nX-A: 1  X-B: 2\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n");
  CHECK(makeResponseHead({.status = 204, .body = "x"}, Framing::kLength, false) ==
        "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  CHECK(makeResponseHead({.status = 299}, Framing::kChunked, true) ==
        "HTTP/1.1 299 Status\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n");
  CHECK(makeChunk("0123456789abcdef") == "10\r\n0123456789abcdef\r\n");
}

}  // namespace
}  // namespace trainyard::net::test
