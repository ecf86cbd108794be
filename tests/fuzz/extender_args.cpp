#include <string>
#include <vector>

#include "codec/extender_args.h"
#include "codec/json_value.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {
namespace {

void answerFilter(const codec::ExtenderArgs& args) {
  const auto check = [&](const std::string& answer, std::string_view member) {
    const auto document = codec::JsonDocument::parse(answer);
    require(document.has_value(), "an answer is JSON");
    std::vector<std::string_view> names;
    document->root().find(member).forEachElement(
        [&](codec::JsonValue value) { names.push_back(value.string().value_or("no text")); });
    require(names == args.nodeNames, "the names of the question come back as they were");
  };
  check(codec::encodeFilterResult(args.nodeNames, {}), "NodeNames");
  std::vector<codec::FailedNode> failed;
  for (const std::string_view name : args.nodeNames) failed.push_back({name, "no room"});
  require(codec::JsonDocument::parse(codec::encodeFilterResult({}, failed)).has_value(),
          "an answer of refusals is JSON");
  const std::vector<int> scores(args.nodeNames.size(), 7);
  require(codec::JsonDocument::parse(codec::encodePriorities(args.nodeNames, scores)).has_value(),
          "an answer of scores is JSON");
}

}  // namespace

void extenderArgs(std::string_view input) {
  // Reused, as in the extender: the state after one request must not affect the next.
  static codec::ExtenderArgsParser parser;
  std::string body(input);
  if (const auto args = parser.parse(body)) {
    answerFilter(*args);
  } else {
    require(codec::JsonDocument::parse(codec::encodeFilterError(args.error().message)).has_value(),
            "a refusal is JSON");
  }
  body = input;
  const auto preemption = parser.parsePreemption(body);
  if (!preemption) return;
  require(codec::JsonDocument::parse(codec::encodePreemptionResult(preemption->candidates)).has_value(),
          "an answer about preemption is JSON");
}

}  // namespace trainyard::fuzz
