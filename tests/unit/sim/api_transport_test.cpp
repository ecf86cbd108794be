#include <catch2/catch.hpp>

#include "api_fixture.h"
#include "sim/api/transport.h"

namespace trainyard::sim {
namespace {

using Reply = base::Result<net::HttpResponse>;

net::HttpRequest post(const std::string& name) {
  return {net::Method::kPost, kMaps, {{"Content-Type", "application/json"}}, named(name).dump()};
}

// Applies the same fault to every request.
struct OneFault : FaultPlan {
  RequestFault fault;
  bool resets = false;
  RequestFault beforeRequest(const FaultPoint& point) override {
    return point.request->method == net::Method::kPost ? fault : RequestFault{};
  }
  StreamFault beforeLine(const FaultPoint&, const std::string&) override { return {resets, {}}; }
};

struct TransportFixture : ApiFixture {
  TransportOptions options() {
    TransportOptions result;
    result.latency = std::chrono::milliseconds(1);
    result.watchLag = std::chrono::milliseconds(5);
    result.faults = &plan;
    result.counts = &counts;
    return result;
  }
  OneFault plan;
  FaultCounts counts;
};

TEST_CASE("an answer takes the latency twice") {
  TransportFixture api;
  ApiServerTransport client(*api.server, api.loop, api.options());
  std::optional<Reply> reply;
  client.send(post("a"), [&](Reply result) { reply = std::move(result); });
  api.loop.runFor(std::chrono::microseconds(1999));
  CHECK_FALSE(reply.has_value());
  api.loop.runFor(std::chrono::microseconds(1));
  REQUIRE(reply.has_value());
  CHECK(reply->value().status == 201);
}

TEST_CASE("a lost reply is an unknown outcome of a request that was carried out; both are counted") {
  TransportFixture api;
  api.plan.fault.kind = RequestFault::Kind::kLoseReply;
  ApiServerTransport client(*api.server, api.loop, api.options());
  std::optional<Reply> reply;
  client.send(post("a"), [&](Reply result) { reply = std::move(result); });
  api.loop.runFor(std::chrono::seconds(1));
  CHECK(reply->error().code == base::ErrorCode::kOutcomeUnknown);
  api.get(kMaps + "/a");
  CHECK(api.code == 200);
  CHECK(api.counts.count("POST configmaps", "lose-reply") == 1);
}

TEST_CASE("a lost or answered request never reaches the server") {
  TransportFixture api;
  ApiServerTransport client(*api.server, api.loop, api.options());
  std::optional<Reply> reply;
  api.plan.fault.kind = RequestFault::Kind::kLoseRequest;
  client.send(post("a"), [&](Reply result) { reply = std::move(result); });
  api.loop.runFor(std::chrono::seconds(1));
  CHECK(reply->error().code == base::ErrorCode::kUnavailable);
  api.plan.fault.kind = RequestFault::Kind::kAnswer;
  api.plan.fault.answer = refusal(429);
  client.send(post("a"), [&](Reply result) { reply = std::move(result); });
  api.loop.runFor(std::chrono::seconds(1));
  CHECK(reply->value().status == 429);
  CHECK(net::findHeader(reply->value().headers, "retry-after") == "1");
  api.get(kMaps + "/a");
  CHECK(api.code == 404);
  CHECK(api.counts.count("POST configmaps", "answer-429") == 1);
}

TEST_CASE("watch lines arrive late and in order; a reset ends them; a dropped handle gets none") {
  TransportFixture api;
  ApiServerTransport client(*api.server, api.loop, api.options());
  std::vector<std::string> lines;
  std::optional<Reply> end;
  net::HttpRequest watch{net::Method::kGet, kMaps + "?watch=1"};
  const auto open = [&] {
    return client.stream(watch, {[&](std::string line) { lines.push_back(std::move(line)); },
                                 [&](Reply result) { end = std::move(result); }});
  };
  auto handle = open();
  api.loop.runFor(std::chrono::milliseconds(2));
  api.post(kMaps, named("a"));
  api.post(kMaps, named("b"));
  CHECK(lines.empty());
  api.loop.runFor(std::chrono::milliseconds(5));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("\"name\":\"a\"") != std::string::npos);
  api.plan.resets = true;
  api.post(kMaps, named("c"));
  api.loop.runFor(std::chrono::seconds(1));
  CHECK(lines.size() == 2);
  CHECK(end->error().code == base::ErrorCode::kOutcomeUnknown);
  api.plan.resets = false;
  end.reset();
  handle = open();
  api.loop.runFor(std::chrono::milliseconds(2));
  handle.reset();
  api.loop.runFor(std::chrono::seconds(1));
  CHECK_FALSE(end.has_value());
  CHECK(lines.size() == 2);
}

TEST_CASE("a watch with a time-out ends cleanly and an expired one reports that") {
  TransportFixture api;
  ApiServerTransport client(*api.server, api.loop, api.options());
  std::vector<std::string> lines;
  std::optional<Reply> end;
  const auto open = [&](const std::string& query) {
    return client.stream({net::Method::kGet, kMaps + query},
                         {[&](std::string line) { lines.push_back(std::move(line)); },
                          [&](Reply result) { end = std::move(result); }});
  };
  auto handle = open("?watch=1&timeoutSeconds=3");
  api.loop.runFor(std::chrono::seconds(2));
  CHECK_FALSE(end.has_value());
  api.loop.runFor(std::chrono::seconds(2));
  REQUIRE(end.has_value());
  CHECK(end->value().status == 200);
  end.reset();
  handle = open("?watch=1&resourceVersion=1");
  api.loop.runFor(std::chrono::seconds(1));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("\"code\":410") != std::string::npos);
  CHECK(end->value().status == 200);
}

TEST_CASE("a request in flight arrives after its sender was destroyed and its answer is dropped") {
  TransportFixture api;
  bool heard = false;
  {
    ApiServerTransport client(*api.server, api.loop, api.options());
    client.send(post("a"), [&](Reply) { heard = true; });
  }
  api.loop.runFor(std::chrono::seconds(1));
  CHECK_FALSE(heard);
  api.get(kMaps + "/a");
  CHECK(api.code == 200);
}

}  // namespace
}  // namespace trainyard::sim
