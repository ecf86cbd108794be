#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "cel/selector.h"
#include "codec/device.h"
#include "codec/json_value.h"

// Compares our answers to selectors of devices with those of Kubernetes' library. Reads the lines of
// e2e/conformance/selectors from standard input; prints each difference, and the counts. Exits with 1 after a
// difference.
namespace {

using namespace trainyard;

std::string sliceOf(const codec::JsonValue& line) {
  return fmt::format(
      R"({{"metadata":{{"name":"s"}},"spec":{{"driver":"{}","pool":{{"name":"p"}},"devices":{}}}}})",
      line.find("driver").string().value_or(""), line.find("devices").minified());
}

std::string answerOf(const base::Result<bool>& matches) {
  if (matches) return *matches ? "true" : "false";
  return matches.error().code == base::ErrorCode::kUnsupported ? "refused" : "error";
}

}  // namespace

int main() {
  std::map<std::string, int> counts;
  int differences = 0;
  std::string text;
  while (std::getline(std::cin, text)) {
    const auto line = codec::JsonDocument::parse(text);
    if (!line) {
      fmt::print("no JSON: {}\n", text);
      return 2;
    }
    const std::string expression(line->root().find("expression").string().value_or(""));
    const auto slice = codec::decodeResourceSlice(sliceOf(line->root()));
    if (!slice) {
      fmt::print("{}: {}\n", expression, slice.error().message);
      return 2;
    }
    const auto selector = cel::Selector::compile(expression);
    std::size_t device = 0;
    line->root().find("answers").forEachElement([&](codec::JsonValue each) {
      const std::string theirs(each.string().value_or(""));
      const std::string ours =
          selector ? answerOf(selector->matches(slice->devices[device], slice->driver)) : "refused";
      ++device;
      ++counts[fmt::format("{} {}", theirs, ours)];
      if (ours == theirs || ours == "refused") return;
      ++differences;
      fmt::print("{}\n  device {}: {}, not {}\n", expression, device, theirs, ours);
    });
  }
  for (const auto& [pair, count] : counts) fmt::print(stderr, "{}: {}\n", pair, count);
  fmt::print(stderr, "{} differences\n", differences);
  return differences == 0 ? 0 : 1;
}
