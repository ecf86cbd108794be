#include "cel/selector.h"

#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace trainyard::cel {
namespace {

using base::ErrorCode;

model::Device h100() {
  return {.name = "gpu-0",
          .attributes = {{"gpu.example.com/cores", std::int64_t{132}},
                         {"gpu.example.com/driverVersion", model::DeviceVersion{"1.4.2"}},
                         {"gpu.example.com/ecc", true},
                         {"gpu.example.com/model", std::string("H100")}},
          .capacity = {{"gpu.example.com/memory", *base::Quantity::parse("80Gi")}}};
}

// "true", "false", "error", or "refused: why".
std::string ask(std::string_view expression) {
  const auto selector = Selector::compile(expression);
  if (!selector)
    return (selector.error().code == ErrorCode::kUnsupported ? "unsupported: " : "invalid: ") +
           selector.error().message;
  const auto matches = selector->matches(h100(), "gpu.example.com");
  if (matches) return *matches ? "true" : "false";
  return matches.error().code == ErrorCode::kUnsupported ? "unsupported"
                                                         : "error: " + matches.error().message;
}

// In what follows, A stands for device.attributes["gpu.example.com"].
std::string with(std::string text) {
  for (std::size_t at = text.find("A."); at != std::string::npos; at = text.find("A.", at + 1)) {
    if (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1])))
      text.replace(at, 1, "device.attributes[\"gpu.example.com\"]");
  }
  return text;
}

TEST_CASE("selectors that drivers ship and users write") {
  CHECK(ask(R"(device.driver == "gpu.example.com")") == "true");
  CHECK(
      ask(R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "A100")") ==
      "false");
  CHECK(ask(R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)") == "true");
  CHECK(ask(R"(device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("81920Mi")))") == "false");
  CHECK(ask(with("A.driverVersion.compareTo(semver(\"1.5.0\")) < 0")) == "true");
  CHECK(ask(with("A.driverVersion.major() == 1 && A.driverVersion.minor() > 3")) == "true");
  CHECK(ask(with("A.model.lowerAscii().matches('^h[0-9]+$')")) == "true");
  CHECK(ask(with("A.model in [\"A100\", \"H100\"] && A.cores > 100 && A.ecc")) == "true");
  CHECK(ask(with("cel.bind(gpu, device.attributes[\"gpu.example.com\"], gpu.ecc && gpu.cores % 2 == 0)")) ==
        "true");
  CHECK(ask(with("has(A.nvlink) ? A.nvlink : !A.ecc")) == "false");
  CHECK(ask(R"("model" in device.attributes["gpu.example.com"] && "x" in device.attributes)") == "false");
}

TEST_CASE("what a device lacks is an error, unless the other operand decides") {
  CHECK(ask(with("A.numa == 1")) == "error: no such key: numa");
  CHECK(ask(R"(device.attributes["other.example.com"].model == "H100")") == "error: no such key: model");
  CHECK(ask(with("A.numa == 1 || A.ecc")) == "true");
  CHECK(ask(with("A.numa == 1 && A.cores == 0")) == "false");
  CHECK(ask(with("A.numa == 1 && A.ecc")) == "error: no such key: numa");
  CHECK(ask(with("A.model")) == "error: is a string, neither true nor false");
  CHECK(ask(with("A.driverVersion == \"1.4.2\"")).starts_with("error"));
  CHECK(ask(with("A.driverVersion != \"1.4.2\"")) == "true");
  CHECK(ask(with("A.cores / 0 == 1")) == "error: division by zero");
}

TEST_CASE("expressions that would grow without bound end") {
  std::string sums = "v40 > 0";
  for (int i = 40; i > 0; --i) sums = fmt::format("cel.bind(v{}, v{} + v{}, {})", i, i - 1, i - 1, sums);
  CHECK(ask("cel.bind(v0, 1, " + sums + ")") == "true");
  std::string texts = "v40 != \"\"";
  for (int i = 40; i > 0; --i) texts = fmt::format("cel.bind(v{}, v{} + v{}, {})", i, i - 1, i - 1, texts);
  CHECK(ask("cel.bind(v0, device.driver, " + texts + ")") == "unsupported");
  CHECK(ask("device.driver.matches(device.driver)").starts_with("unsupported"));
}

TEST_CASE("what is not understood is refused, with its place") {
  CHECK(ask("device.attributes.exists(x, true)") ==
        "unsupported: exists() with 2 arguments at character 18 is not supported");
  CHECK(ask("device.name == 'x'") == "invalid: device has no field \"name\" at character 7");
  CHECK(ask("device.driver == 5") == "invalid: == does not take these operands at character 15");
  CHECK(ask("device.driver ==") == "invalid: the expression ends too early at character 17");
  CHECK(ask("1.5 < 2") == "unsupported: a number that is no integer at character 2");
  CHECK(ask("null == null").starts_with("unsupported"));
  CHECK(ask("size(device.driver)") == "invalid: must be true or false, is a int");
  CHECK(ask(std::string(20'000, '!') + "true").starts_with("invalid: is longer"));
  CHECK(ask(std::string(5'000, '(') + "true").starts_with("unsupported: the expression nests too deep"));
  CHECK(ask(with("quantity(\"1n\") == quantity(\"1n\")")) == "unsupported");
}

TEST_CASE("a summary says the same in fewer words") {
  const auto summary = [](const std::string& expression) {
    const auto selector = Selector::compile(expression);
    REQUIRE(selector);
    return selector->summary("gpu.example.com");
  };
  CHECK(summary(R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0)") ==
        "memory >= 80Gi");
  CHECK(summary(R"(device.attributes['other.example.com']['link'] == "x" || !(true && false))") ==
        R"(other.example.com/link == "x" || !(true && false))");
  CHECK(summary(R"(device.attributes["gpu.example.com"].model.startsWith('H'))") ==
        R"(model.startsWith("H"))");
  CHECK(
      summary(
          R"(device.attributes["gpu.example.com"].v.isLessThan(semver("2.0.0")) && device.driver in ["a", "b"])") ==
      R"(v < 2.0.0 && driver in ["a", "b"])");
}

}  // namespace
}  // namespace trainyard::cel
