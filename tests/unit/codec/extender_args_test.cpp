#include "codec/extender_args.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/json_text.h"

namespace {

using namespace trainyard;
using Names = std::vector<std::string_view>;

// A request of kube-scheduler 1.36.3, without the parts of the pod that are not read.
constexpr std::string_view kFilter =
    R"({"Pod":{"metadata":{"name":"plain","namespace":"default",)"
    R"("uid":"9299e4b9-1c2d-42bb-a755-7ee8774668a5","resourceVersion":"262",)"
    R"("generation":1,"creationTimestamp":"2026-11-21T07:56:36Z","labels":{"a":"b"}},)"
    R"("spec":{"volumes":[{"name":"kube-api-access-7cg65","projected":{"sources":)"
    R"([{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}]}}],)"
    R"("containers":[{"name":"c","image":"x","resources":{"limits":)"
    R"({"nvidia.com/gpu":"2"},"requests":{"nvidia.com/gpu":"2"}}}],)"
    R"("restartPolicy":"Always","schedulerName":"default-scheduler","tolerations":)"
    R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists",)"
    R"("effect":"NoExecute","tolerationSeconds":300}],"priority":0},)"
    R"("status":{"phase":"Pending","qosClass":"BestEffort"}},)"
    R"("Nodes":null,"NodeNames":["n1","n2","n3","n0"]})";

constexpr std::string_view kPreempt =
    R"({"Pod":{"metadata":{"name":"hp1","namespace":"default","uid":"u-hp1"},"spec":{"containers":[{"name":"c",)"
    R"("resources":{"requests":{"nvidia.com/gpu":"4"}}}],"priority":1000}},"NodeNameToVictims":null,)"
    R"("NodeNameToMetaVictims":{"n0":{"Pods":[{"UID":"19be4fff"}],"NumPDBViolations":0},)"
    R"("n2":{"Pods":[{"UID":"9299e4b9"},{"UID":"8d410a3c"}],"NumPDBViolations":1}}})";

constexpr std::string_view kPod = R"({"metadata":{"name":"p","namespace":"ns"}})";

std::string failure(std::string body) {
  codec::ExtenderArgsParser parser;
  const auto args = parser.parse(body);
  return args ? "accepted" : args.error().message;
}

std::string preemptionFailure(std::string body) {
  codec::ExtenderArgsParser parser;
  const auto args = parser.parsePreemption(body);
  return args ? "accepted" : args.error().message;
}

std::string with(std::string_view rest) { return fmt::format(R"({{"Pod":{}{}}})", kPod, rest); }

TEST_CASE("a recorded filter request is read") {
  codec::ExtenderArgsParser parser;
  std::string body(kFilter);
  const auto args = parser.parse(body);
  REQUIRE(args);
  CHECK(args->pod.key == model::ObjectKey{"default", "plain"});
  CHECK(args->pod.uid.str() == "9299e4b9-1c2d-42bb-a755-7ee8774668a5");
  CHECK(args->pod.shape.requests.gpus() == 2);
  CHECK(args->nodeNames == Names{"n1", "n2", "n3", "n0"});
}

TEST_CASE("a recorded preempt request is read") {
  codec::ExtenderArgsParser parser;
  std::string body(kPreempt);
  const auto args = parser.parsePreemption(body);
  REQUIRE(args);
  CHECK(args->pod.priority == 1000);
  REQUIRE(args->candidates.size() == 2);
  CHECK(args->candidates[0].node == "n0");
  CHECK(args->candidates[0].uids == Names{"19be4fff"});
  CHECK(args->candidates[1].uids == Names{"9299e4b9", "8d410a3c"});
  CHECK(args->candidates[1].pdbViolations == 1);
}

TEST_CASE("a parser is used again and again") {
  codec::ExtenderArgsParser parser;
  std::string small = with(R"(,"NodeNames":["a"])");
  std::string broken = "{";
  std::string large(kFilter);
  CHECK(parser.parse(small)->nodeNames == Names{"a"});
  CHECK_FALSE(parser.parse(broken));
  CHECK(parser.parse(large)->nodeNames.size() == 4);
  CHECK(parser.parse(small)->nodeNames == Names{"a"});
}

TEST_CASE("names retain their escaped characters in any order of members and unknown members are skipped") {
  codec::ExtenderArgsParser parser;
  std::string body =
      fmt::format(R"({{"NodeNames":["a\"b","\u00e9"],"Later":[{{"x":[1,2]}}],"Pod":{}}})", kPod);
  const auto args = parser.parse(body);
  REQUIRE(args);
  CHECK(args->nodeNames == Names{"a\"b", "é"});
  CHECK(args->pod.key.name == "p");
}

TEST_CASE("an empty list of candidates is valid and a missing one is not") {
  CHECK(failure(with(R"(,"NodeNames":[])")) == "accepted");
  CHECK(failure(with("")) == "extender request: NodeNames: is missing");
  CHECK(failure(with(R"(,"Nodes":null,"NodeNames":null)")) == "extender request: NodeNames: is null");
}

TEST_CASE("text that only begins like null is refused without an exception") {
  for (const char* text : {"nul", "nulL", "nullx", "n"}) {
    CAPTURE(text);
    CHECK_THAT(failure(with(fmt::format(R"(,"NodeNames":{})", text))),
               Catch::StartsWith("extender request: "));
    CHECK_THAT(failure(with(fmt::format(R"(,"NodeNames":["n"],"Nodes":{})", text))),
               Catch::StartsWith("extender request: "));
    CHECK_THAT(
        preemptionFailure(with(fmt::format(R"(,"NodeNameToMetaVictims":{{"n":{{"Pods":{}}}}})", text))),
        Catch::StartsWith("extender request: "));
  }
}

TEST_CASE("more names than any cluster has are refused") {
  const auto names = [](std::size_t count) {
    std::string list = "\"n\"";
    for (std::size_t i = 1; i < count; ++i) list += ",\"n\"";
    return failure(with(fmt::format(R"(,"NodeNames":[{}])", list)));
  };
  CHECK(names(100'000) == "accepted");
  CHECK(names(100'001) == "extender request: NodeNames: more than 100000 names");
}

TEST_CASE("whole Node objects are refused with the setting that is wrong") {
  const std::string why =
      "extender request: Nodes: whole objects were sent; the extender's configuration needs "
      "nodeCacheCapable: true";
  CHECK(failure(with(R"(,"Nodes":{"items":[{"metadata":{"name":"n1"}}]},"NodeNames":null)")) == why);
  CHECK(failure(with(R"(,"NodeNames":["n1"],"Nodes":{"items":[]})")) == why);
  CHECK(preemptionFailure(with(R"(,"NodeNameToVictims":{"n1":{"Pods":[]}},"NodeNameToMetaVictims":null)")) ==
        "extender request: NodeNameToVictims: whole objects were sent; the extender's configuration needs "
        "nodeCacheCapable: true");
}

TEST_CASE("wrong types and repeats are named") {
  CHECK(failure(R"({"NodeNames":["a"]})") == "extender request: Pod: is missing");
  CHECK(failure(R"({"Pod":null,"NodeNames":["a"]})") == "extender request: Pod: expected an object");
  CHECK(failure(R"({"Pod":[],"NodeNames":["a"]})") == "extender request: Pod: expected an object");
  CHECK(failure(R"({"Pod":{"metadata":{}},"NodeNames":["a"]})").find("extender request: Pod: pod") == 0);
  CHECK(failure(with(R"(,"NodeNames":"a")")) == "extender request: NodeNames: expected a list");
  CHECK(failure(with(R"(,"NodeNames":["a",5])")).find("extender request: NodeNames[1]: ") == 0);
  CHECK(failure(with(R"(,"NodeNames":[null])")).find("extender request: NodeNames[0]: ") == 0);
  CHECK(failure(with(R"(,"NodeNames":["a"],"NodeNames":["b"])")) ==
        "extender request: NodeNames: given twice");
  CHECK(failure(with(fmt::format(R"(,"Pod":{},"NodeNames":[])", kPod))) ==
        "extender request: Pod: given twice");
  CHECK(failure("[]") == "extender request: body: expected an object");
  CHECK(failure("").find("extender request: body: ") == 0);
  CHECK(failure(with(R"(,"NodeNames":[])") + " {}") ==
        "extender request: body: something follows the object");

  CHECK(preemptionFailure(with("")) == "extender request: NodeNameToMetaVictims: is missing");
  const auto meta = [](std::string_view value) {
    return preemptionFailure(with(fmt::format(R"(,"NodeNameToMetaVictims":{})", value)));
  };
  CHECK(meta("[]") == "extender request: NodeNameToMetaVictims: expected an object");
  CHECK(meta(R"({"n":5})") == "extender request: NodeNameToMetaVictims[n]: expected an object");
  CHECK(meta(R"({"n":{"Pods":5}})") ==
        "extender request: NodeNameToMetaVictims[n].Pods[0]: expected a list of pods");
  CHECK(meta(R"({"n":{"Pods":[{}]}})").find("extender request: NodeNameToMetaVictims[n].Pods[0].UID: ") == 0);
  CHECK(meta(R"({"n":{"Pods":null,"NumPDBViolations":0}})") == "accepted");
  CHECK(meta(R"({"n":{"NumPDBViolations":"1"}})")
            .find("extender request: NodeNameToMetaVictims[n].NumPDBViolations: ") == 0);
}

TEST_CASE("bytes that are no UTF-8 are refused") {
  CHECK(failure(with(",\"NodeNames\":[\"a\xff\"]")).find("extender request: body: ") == 0);
}

TEST_CASE("deep nesting is refused or skipped and never followed") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(failure(with(R"(,"Else":)" + deep + R"(,"NodeNames":[])")) == "accepted");
  CHECK(failure(fmt::format(R"({{"Pod":{{"metadata":{{"name":"p"}},"spec":{}}},"NodeNames":[]}})", deep))
            .find("extender request: Pod: ") == 0);
  CHECK(failure(with(R"(,"NodeNames":)" + deep)).find("extender request: NodeNames[0]: ") == 0);
  CHECK(failure(std::string(100'000, '{')) != "accepted");
}

TEST_CASE("a request that is cut off anywhere is refused") {
  for (std::size_t length = 0; length < kFilter.size(); ++length) {
    // A buffer of exactly this size, so that a sanitizer detects a read past the end.
    std::string body(kFilter.substr(0, length));
    body.shrink_to_fit();
    INFO(length);
    REQUIRE(failure(std::move(body)) != "accepted");
  }
  for (std::size_t length = 0; length < kPreempt.size(); ++length) {
    INFO(length);
    REQUIRE(preemptionFailure(std::string(kPreempt.substr(0, length))) != "accepted");
  }
}

TEST_CASE("the answer to filter always has NodeNames") {
  const Names names{"n1", "n2"};
  const std::vector<codec::FailedNode> failed{
      {"n3", "full", false}, {"n4", "reserved", true}, {"n5", "reserved", true}};
  CHECK(codec::encodeFilterResult(names, failed) ==
        R"({"Nodes":null,"NodeNames":["n1","n2"],"FailedNodes":{"n3":"full"},)"
        R"("FailedAndUnresolvableNodes":{"n4":"reserved","n5":"reserved"},"Error":""})");
  CHECK(codec::encodeFilterResult({}, {}) ==
        R"({"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
  CHECK(
      codec::encodeFilterError("not yet") ==
      R"({"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":"not yet"})");
  CHECK(codec::encodeFilterError("").find(R"("Error":"")") == std::string::npos);
}

TEST_CASE("the answers to prioritize and preempt") {
  const Names names{"n1", "n2"};
  CHECK(codec::encodePriorities(names, std::vector<int>{10, 0}) ==
        R"([{"Host":"n1","Score":10},{"Host":"n2","Score":0}])");
  CHECK(codec::encodePriorities({}, {}) == "[]");
  CHECK(codec::encodePreemptionResult({}) == R"({"NodeNameToMetaVictims":{}})");
  const std::vector<codec::MetaVictims> kept{{"n1", {"u1", "u2"}, 1}, {"n2", {"u3"}, 0}};
  CHECK(codec::encodePreemptionResult(kept) ==
        R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":1},)"
        R"("n2":{"Pods":[{"UID":"u3"}],"NumPDBViolations":0}}})");
}

TEST_CASE("text that needs escapes is escaped at every position of a word") {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < 17; ++place) {
      std::string text(17, 'x');
      text[place] = static_cast<char>(byte);
      INFO(byte << " at " << place);
      const std::string expected = fmt::format(R"({{"Nodes":null,"NodeNames":[{}],)", base::quoteJson(text));
      REQUIRE(codec::encodeFilterResult(Names{text}, {}).substr(0, expected.size()) == expected);
    }
  }
}

}  // namespace
