#include "core/resize/speed_record.h"

#include <catch2/catch.hpp>

#include "core/status/job_status.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test
using Speeds = std::vector<model::SpeedPoint>;

namespace {

constexpr int kMax = 64;

model::Progress report(int replicas, std::int64_t milli, std::int64_t time = 0) {
  model::Progress each;
  each.replicas = replicas;
  each.milliSamplesPerSecond = milli;
  each.at = at(time);
  return each;
}

}  // namespace

TEST_CASE("the size that was seen last is first and moves by a quarter of the difference") {
  Speeds speeds;
  noteSpeed(report(2, 1'000), kMax, speeds);
  noteSpeed(report(4, 1'800), kMax, speeds);
  CHECK(speeds == Speeds{{4, 1'800}, {2, 1'000}});
  noteSpeed(report(2, 2'000), kMax, speeds);
  CHECK(speeds == Speeds{{2, 1'250}, {4, 1'800}});
  noteSpeed(report(2, 250), kMax, speeds);
  CHECK(speeds == Speeds{{2, 1'000}, {4, 1'800}});
  for (int i = 0; i < 20; ++i) noteSpeed(report(2, 3'000), kMax, speeds);
  CHECK(speeds.front().milliSamplesPerSecond > 2'950);
}

TEST_CASE("a report without a speed or a size or beyond the maximum is ignored") {
  Speeds speeds;
  noteSpeed(report(0, 1'000), kMax, speeds);
  noteSpeed(report(2, 0), kMax, speeds);
  noteSpeed(report(kMax + 1, 1'000), kMax, speeds);
  model::Progress silent = report(2, 1);
  silent.milliSamplesPerSecond.reset();
  noteSpeed(silent, kMax, speeds);
  CHECK(speeds.empty());
}

TEST_CASE("the size that was not seen for longest is dropped when there are too many") {
  Speeds speeds;
  for (int size = 1; size <= static_cast<int>(kMaxSpeeds); ++size)
    noteSpeed(report(size, 1'000), kMax, speeds);
  noteSpeed(report(1, 1'000), kMax, speeds);
  noteSpeed(report(40, 1'000), kMax, speeds);
  REQUIRE(speeds.size() == kMaxSpeeds);
  const auto knows = [&](int size) {
    return std::any_of(speeds.begin(), speeds.end(), [&](const auto& each) { return each.replicas == size; });
  };
  CHECK(knows(40));
  CHECK(knows(1));
  CHECK_FALSE(knows(2));
  CHECK(knows(3));
}

TEST_CASE("a pause is taken once from the first report with another size") {
  std::vector<std::int64_t> pauses;
  model::Progress last = report(2, 1'000);
  model::Progress now = report(4, 0);
  notePause(&last, now, pauses);
  CHECK(pauses.empty());
  now.metrics = {{"loss", "1"}, {"pauseMillis", "310.4"}};
  notePause(nullptr, now, pauses);
  CHECK(pauses.empty());
  notePause(&last, now, pauses);
  CHECK(pauses == std::vector<std::int64_t>{310});
  // It continues at this size, and later at another one without a known pause.
  notePause(&now, now, pauses);
  model::Progress next = now;
  next.replicas = 3;
  notePause(&now, next, pauses);
  CHECK(pauses.size() == 1);
  next.metrics[1].second = "-5";
  notePause(&now, next, pauses);
  next.metrics[1].second = "1e300";
  notePause(&now, next, pauses);
  CHECK(pauses.size() == 1);
  for (int i = 0; i < 10; ++i) {
    next.metrics[1].second = std::to_string(400 + i);
    notePause(&now, next, pauses);
  }
  CHECK(pauses.size() == kMaxPauses);
  CHECK(pauses.front() == 409);
}

TEST_CASE("the expected speed of a size follows from the speeds of others") {
  model::Job each = job("ml/bert").role("worker", 2, gpus(4)).placed("n1", "worker", "0-1");
  CHECK_FALSE(expectedSpeed(each, 4, {}));
  each.spec.elastic.emplace();
  each.spec.elastic->role = "worker";
  CHECK_FALSE(expectedSpeed(each, 4, {}));
  each.spec.elastic->speeds = {{2, 1'000}};
  const auto declared = expectedSpeed(each, 4, {});
  REQUIRE(declared);
  CHECK(*declared > 1'500);
  CHECK(*declared < 2'000);
  // At half the declared speed, all expected speeds are halved.
  each.status.resize.speeds = {{2, 500}};
  CHECK(*expectedSpeed(each, 4, {}) == Approx(*declared / 2));
}

TEST_CASE("a speed is recorded once with its progress and only for elastic jobs") {
  model::Job each = job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0-1");
  LifeSign life;
  life.progress = report(2, 1'000, 10);
  const auto next = [&] { return deriveStatus(each, each.status.gang, {}, {.life = &life}, at(20)); };
  CHECK(next().resize.speeds.empty());

  each.spec.elastic.emplace();
  each.spec.elastic->role = "worker";
  each.spec.elastic->minReplicas = 1;
  each.spec.elastic->replicas = 2;
  each.spec.elastic->maxReplicas = 4;
  each.status = next();
  CHECK(each.status.resize.speeds == Speeds{{2, 1'000}});
  // A repeated report changes nothing.
  life.progress->milliSamplesPerSecond = 5'000;
  each.status = next();
  CHECK(each.status.resize.speeds == Speeds{{2, 1'000}});
  life.progress->at = at(40);
  each.status = next();
  CHECK(each.status.resize.speeds == Speeds{{2, 2'000}});
}
