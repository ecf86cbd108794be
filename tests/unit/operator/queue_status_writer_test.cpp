#include "operator/queue_status_writer.h"

#include <functional>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "codec/json_value.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

// An API server with one queue, "a".
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  int version = 10;
  int generation = 1;
  int waiting = -1;                                        // of the status; negative: no status yet
  std::string decayed;                                     // of the status
  std::vector<std::pair<base::Instant, int>> writes = {};  // the time and the written status.waiting
  int reads = 0;

  [[nodiscard]] std::string object() const {
    return fmt::format(
        R"({{"metadata":{{"name":"a","uid":"q","resourceVersion":"{}","generation":{}}},"spec":{{}},)"
        R"("status":{{{}}}}})",
        version, generation,
        waiting < 0 ? ""
                    : fmt::format(R"("waiting":{},"decayedUsage":{{"nvidia.com/gpu":"{}"}})", waiting,
                                  decayed.empty() ? "0" : decayed));
  }

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (request.method == net::Method::kGet) {
      CHECK(request.path == "/apis/trainyard.dev/v1alpha1/queues/a");
      ++reads;
      return kube::ApiResponse{200, object()};
    }
    CHECK(request.path == "/apis/trainyard.dev/v1alpha1/queues/a/status");
    const auto patch = codec::JsonDocument::parse(request.body);
    REQUIRE(patch);
    if (patch->root().find("metadata").find("resourceVersion").string() != std::to_string(version)) {
      return base::fail(base::ErrorCode::kConflict, "the object has been modified");
    }
    const codec::JsonValue status = patch->root().find("status");
    if (const auto count = status.find("waiting").integer()) waiting = static_cast<int>(*count);
    if (const auto used = status.find("decayedUsage").find("nvidia.com/gpu").string()) decayed = *used;
    ++version;
    writes.emplace_back(now(), waiting);
    return kube::ApiResponse{200, object()};
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "queues"};
  kube::ClusterCache cache{log};
  telemetry::MetricsRegistry registry;
  OperatorMetrics metrics{registry};
  int overtaken = 0;
  QueueStatusWriter writer{{api, loop, cache, metrics, log, [this] { ++overtaken; }}};

  Fixture() { cache.queues.upsert(api.object()); }

  void note(int waiting, std::int64_t decayed = 0) {
    const auto queue = cache.queues.find(model::QueueName("a"));
    REQUIRE(queue);
    model::QueueStatus status;
    status.waiting = waiting;
    status.decayedUsage.set("nvidia.com/gpu", decayed);
    writer.take({{queue, status}});
  }
  [[nodiscard]] std::vector<int> written() const {
    std::vector<int> counts;
    for (const auto& [when, waiting] : api.writes) counts.push_back(waiting);
    return counts;
  }
};

TEST_CASE("The first status is written at once and later ones at intervals with the newest value") {
  Fixture fixture;
  fixture.note(1);
  fixture.loop.runFor(10ms);
  CHECK(fixture.written() == std::vector<int>{1});
  for (int i = 2; i <= 100; ++i) {
    fixture.note(i);
    fixture.loop.runFor(10ms);
  }
  CHECK(fixture.written() == std::vector<int>{1});
  fixture.loop.runFor(10s);
  CHECK(fixture.written() == std::vector<int>{1, 100});
  CHECK(fixture.cache.queues.find(model::QueueName("a"))->status.waiting == 100);
  CHECK(fixture.api.writes[1].first - fixture.api.writes[0].first >= 2s);
}

TEST_CASE("A status that is stored already is not written") {
  Fixture fixture;
  fixture.note(1);
  fixture.loop.runFor(1min);
  for (int i = 0; i < 100; ++i) {
    fixture.note(1);
    fixture.loop.runFor(1s);
  }
  CHECK(fixture.written() == std::vector<int>{1});
}

TEST_CASE("A status that the next cycle withdraws is not written") {
  Fixture fixture;
  fixture.note(1);
  fixture.loop.runFor(1s);
  fixture.note(2);
  fixture.loop.runFor(100ms);
  fixture.writer.take({});
  fixture.loop.runFor(1min);
  CHECK(fixture.written() == std::vector<int>{1});
  CHECK(fixture.overtaken == 0);
}

TEST_CASE("A cycle that ran while a write was under way is followed by another") {
  Fixture fixture;
  fixture.note(1);
  fixture.loop.runFor(500us);
  fixture.writer.take({});
  CHECK(fixture.overtaken == 0);
  fixture.loop.runFor(10ms);
  CHECK(fixture.written() == std::vector<int>{1});
  CHECK(fixture.overtaken == 1);
}

TEST_CASE("Decayed usage alone is written once a minute and together with other changes") {
  Fixture fixture;
  fixture.note(1, 1000);
  fixture.loop.runFor(1s);
  for (int i = 1; i <= 150; ++i) {
    fixture.note(1, 1000 - i);
    fixture.loop.runFor(1s);
  }
  CHECK(fixture.written() == std::vector<int>{1, 1, 1});
  fixture.note(2, 7);
  fixture.loop.runFor(1s);
  CHECK(fixture.written() == std::vector<int>{1, 1, 1, 2});
  CHECK(fixture.api.decayed == "7");
}

TEST_CASE("A change of one queue does not wait for the interval of decayed usage") {
  Fixture fixture;
  fixture.note(1, 10);
  fixture.loop.runFor(5s);
  fixture.note(1, 9);
  fixture.loop.runFor(5s);
  fixture.note(2, 8);
  fixture.loop.runFor(5s);
  CHECK(fixture.written() == std::vector<int>{1, 2});
}

TEST_CASE("After a faster writer the queue is read and the status written again") {
  Fixture fixture;
  int edits = 3;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method == net::Method::kPatch && edits-- > 0) ++fixture.api.version;
    return std::nullopt;
  };
  fixture.note(4);
  fixture.loop.runFor(1s);
  CHECK(fixture.written() == std::vector<int>{4});
  CHECK(fixture.api.reads == 3);
}

TEST_CASE("A status for a spec that has changed meanwhile is dropped") {
  Fixture fixture;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method == net::Method::kPatch && fixture.api.generation == 1) {
      ++fixture.api.version;
      ++fixture.api.generation;
    }
    return std::nullopt;
  };
  fixture.note(4);
  fixture.loop.runFor(1min);
  CHECK(fixture.written().empty());
  fixture.note(5);
  fixture.loop.runFor(1s);
  CHECK(fixture.written() == std::vector<int>{5});
}

TEST_CASE("A write that fails is repeated with the newest status") {
  Fixture fixture;
  int left = 3;
  const auto code = GENERATE(base::ErrorCode::kUnavailable, base::ErrorCode::kForbidden,
                             base::ErrorCode::kOutcomeUnknown, base::ErrorCode::kThrottled);
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method != net::Method::kPatch || left == 0) return std::nullopt;
    --left;
    return base::Error{code, "no"};
  };
  fixture.note(1);
  fixture.loop.runFor(500ms);
  fixture.note(2);
  fixture.loop.runFor(1min);
  CHECK(left == 0);
  CHECK(fixture.written() == std::vector<int>{2});
}

TEST_CASE("A deleted queue is forgotten") {
  Fixture fixture;
  fixture.api.fault = [](const kube::ApiRequest&) -> std::optional<base::Error> {
    return base::Error{base::ErrorCode::kNotFound, "gone"};
  };
  fixture.note(1);
  fixture.loop.runFor(1min);
  CHECK(fixture.cache.queues.find(model::QueueName("a")) == nullptr);
  CHECK(fixture.written().empty());
}

}  // namespace
}  // namespace trainyard::operator_
