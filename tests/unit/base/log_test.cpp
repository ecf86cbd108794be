#include "base/log.h"

#include "base/json_text.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace trainyard::base;  // NOLINT(google-build-using-namespace): test

namespace {

class Lines final : public LogSink {
 public:
  void write(std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

}  // namespace

TEST_CASE("log: JSON strings are escaped") {
  CHECK(quoteJson("plain") == R"("plain")");
  CHECK(quoteJson("a\"b\\c") == R"("a\"b\\c")");
  CHECK(quoteJson("a\nb\rc\td") == R"("a\nb\u000dc\u0009d")");
  CHECK(quoteJson(std::string_view("\0\x01\x1f", 3)) == R"("\u0000\u0001\u001f")");
  CHECK(quoteJson("") == R"("")");
}

TEST_CASE("log: well-formed UTF-8 is unchanged and other bytes become U+FFFD") {
  CHECK(quoteJson("grün €  \xF0\x9F\x9A\x82") == "\"grün €  \xF0\x9F\x9A\x82\"");
  constexpr const char* kReplaced = "\"\xEF\xBF\xBD\"";
  CHECK(quoteJson("\xFF") == kReplaced);
  CHECK(quoteJson("\xC3") == kReplaced);  // cut off
  CHECK(quoteJson("\x80") == kReplaced);  // continues nothing
  const auto count = [](std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = text.find("\xEF\xBF\xBD"); at != std::string_view::npos;
         at = text.find("\xEF\xBF\xBD", at + 1))
      ++found;
    return found;
  };
  CHECK(count(quoteJson("\xC0\xAF")) == 2);          // overlong '/'
  CHECK(count(quoteJson("\xED\xA0\x80")) == 3);      // a surrogate
  CHECK(count(quoteJson("\xF4\x90\x80\x80")) == 4);  // beyond Unicode
  CHECK(quoteJson("a\xC3"
                  "b") ==
        "\"a\xEF\xBF\xBD"
        "b\"");
}

TEST_CASE("log: a line is one JSON object with typed fields") {
  Lines lines;
  const Logger logger(lines, LogLevel::kInfo, "cycle");
  logger.info("placed", {{"job", "ml/bert"}, {"pods", 4}, {"whole", true}});
  CHECK(lines.text.rfind("{\"time\":\"", 0) == 0);
  CHECK(lines.text.find(
            R"("level":"info","component":"cycle","msg":"placed","job":"ml/bert","pods":4,"whole":true})") !=
        std::string::npos);
}

TEST_CASE("log: an attacker's text in a field cannot forge a line") {
  Lines lines;
  Logger(lines, LogLevel::kInfo, "x").info("m", {{"name", "a\"}\n{\"level\":\"error\""}});
  CHECK(std::count(lines.text.begin(), lines.text.end(), '\n') == 1);
  CHECK(lines.text.find(R"(a\"}\n{\"level\":\"error\")") != std::string::npos);
}

TEST_CASE("log: levels below the chosen one are dropped; components can be renamed") {
  Lines lines;
  const Logger logger(lines, LogLevel::kWarning, "a");
  logger.debug("no");
  logger.info("no");
  CHECK(lines.text.empty());
  logger.named("b").error("yes");
  CHECK(lines.text.find(R"("component":"b")") != std::string::npos);
}

TEST_CASE("log: a line in text format is readable and a single line") {
  Lines lines;
  const Logger logger(lines, LogLevel::kInfo, "cycle", LogFormat::kText);
  logger.named("lease").warning(
      "lost", {{"job", "ml/bert"}, {"pods", 4}, {"whole", true}, {"none", ""}, {"why", "too late"}});
  const auto at = lines.text.find(' ');
  CHECK(lines.text.substr(at) ==
        " warning lease: lost job=ml/bert pods=4 whole=true none=\"\" why=\"too late\"\n");
  lines.text.clear();
  logger.info("a\nb", {{"name", "x\n2026-01-01 error"}, {"other", "a=b"}, {"bell", "\x1b[2J"}});
  CHECK(std::count(lines.text.begin(), lines.text.end(), '\n') == 1);
  CHECK(lines.text.find(R"(info    cycle: a\nb name="x\n2026-01-01 error" other="a=b" bell="\u001b[2J")") !=
        std::string::npos);
}

TEST_CASE("log: format names") {
  CHECK(parseLogFormat("json").value() == LogFormat::kJson);
  CHECK(parseLogFormat("text").value() == LogFormat::kText);
  CHECK(parseLogFormat("xml").error().message == "log format \"xml\": use json or text");
}

TEST_CASE("log: level names") {
  CHECK(parseLogLevel("debug").value() == LogLevel::kDebug);
  CHECK(parseLogLevel("error").value() == LogLevel::kError);
  CHECK(parseLogLevel("loud").error().message.find("\"loud\"") != std::string::npos);
}
