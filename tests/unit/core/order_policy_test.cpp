#include "core/order/order_policy.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/order/run_history.h"
#include "core/order/time_slice.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using model::Ordering;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

const model::ObjectKey kA{"ml", "a"};
const model::ObjectKey kB{"ml", "b"};
const model::ObjectKey kC{"ml", "c"};

OrderView view(const model::ObjectKey& key, int submitted, std::int64_t gpus = 1) {
  return {.key = &key, .submitted = base::WallTime(seconds(submitted)), .gpus = gpus};
}

std::string order(const std::vector<OrderView>& jobs, Ordering ordering) {
  std::string names;
  for (const std::size_t i : orderOfService(jobs, {.ordering = ordering})) names += jobs[i].key->name;
  return names;
}

TEST_CASE("First come, first served; equal moments by name") {
  CHECK(order({view(kC, 1), view(kB, 2), view(kA, 2)}, Ordering::kFifo) == "cab");
}

TEST_CASE("Priority comes before every ordering") {
  auto high = view(kC, 9, 64);
  high.priority = 1;
  high.ran = hours(100);
  high.remaining = hours(100);
  for (const auto ordering :
       {Ordering::kFifo, Ordering::kLas, Ordering::kSrtf, Ordering::kSrsf, Ordering::kDefault})
    CHECK(order({view(kA, 1), view(kB, 2), high}, ordering) == "cab");
}

TEST_CASE("Least attained service counts GPU seconds in steps, first come first served in each") {
  auto long8 = view(kA, 1, 8);
  long8.ran = seconds(451);  // 3,608 GPU seconds: the second queue
  auto long1 = view(kB, 2, 1);
  long1.ran = seconds(3'599);
  CHECK(order({long8, long1, view(kC, 3)}, Ordering::kLas) == "bca");
}

TEST_CASE("Shortest remaining time, by itself and times GPUs; who has no estimate comes last") {
  auto wide = view(kA, 1, 8);
  wide.remaining = seconds(10);
  auto narrow = view(kB, 2, 1);
  narrow.remaining = seconds(20);
  CHECK(order({view(kC, 0), wide, narrow}, Ordering::kSrtf) == "abc");
  CHECK(order({view(kC, 0), wide, narrow}, Ordering::kSrsf) == "bac");
}

TEST_CASE("A running job is stopped by default only for one that is better by what the stop costs") {
  auto running = view(kA, 1);
  running.running = true;
  running.remaining = seconds(105);
  auto other = view(kB, 2);
  other.remaining = seconds(100);
  CHECK(order({running, other}, Ordering::kDefault) == "ab");
  other.remaining = seconds(90);
  CHECK(order({running, other}, Ordering::kDefault) == "ba");
  running.remaining.reset();
  other.remaining.reset();
  running.gittinsIndex = 0.1;
  other.gittinsIndex = 0.29;
  CHECK(order({running, other}, Ordering::kDefault) == "ab");
  other.gittinsIndex = 0.31;
  CHECK(order({running, other}, Ordering::kDefault) == "ba");
}

TEST_CASE("Without anything known the default prefers the younger and the smaller") {
  auto old = view(kA, 1);
  old.ran = hours(10);
  CHECK(order({old, view(kB, 2)}, Ordering::kDefault) == "ba");
  CHECK(order({view(kA, 1, 8), view(kB, 2, 1)}, Ordering::kDefault) == "ba");
}

TEST_CASE("No time and no GPUs make no number that is none") {
  auto job = view(kA, 1, 0);
  job.remaining = seconds(0);
  for (const auto ordering : {Ordering::kSrtf, Ordering::kSrsf, Ordering::kDefault})
    CHECK(rankOf(job, {.ordering = ordering}).merit < std::numeric_limits<double>::infinity());
}

TEST_CASE("A kind whose jobs end soon is expected to end soon, and to go on once it did not") {
  RunHistory history;
  using Time = RunHistory::Seconds;
  for (int i = 0; i < 10; ++i) {
    history.ended(history.submit("short", Time(i * 60)), Time(100));
    history.ended(history.submit("long", Time(i * 60)), Time(100'000));
  }
  const auto shorter = history.submit("short", Time(700));
  const auto longer = history.submit("long", Time(700));
  const auto unknown = history.submit("new", Time(700));
  CHECK(history.rate(shorter) > 10 * history.rate(longer));
  CHECK(history.rate(shorter) == Approx(1.0 / 100).epsilon(0.3));
  CHECK(history.rate(unknown) > 0);
  // It outlived all of its kind.
  history.ran(shorter, Time(5'000));
  CHECK(history.rate(shorter) < 1.0 / 1'000);
}

TEST_CASE("What has run long without ending is known to be long") {
  RunHistory history;
  using Time = RunHistory::Seconds;
  const auto first = history.submit("kind", Time(0));
  const auto second = history.submit("kind", Time(10));
  const double before = history.rate(second);
  history.ran(first, Time(200'000));
  CHECK(history.rate(second) < before);
}

// Pieces of one node, who holds how many of them.
class OneNode final : public SliceRoom {
 public:
  OneNode(int all, std::vector<int> asks, std::vector<bool> running)
      : free_(all), given_(all), asks_(std::move(asks)), running_(std::move(running)) {
    for (std::size_t i = 0; i < asks_.size(); ++i) free_ -= running_[i] ? asks_[i] : 0;
  }
  bool keep(std::size_t each) override {
    if (given_ < asks_[each]) {
      free_ += asks_[each];
      return false;
    }
    given_ -= asks_[each];
    return true;
  }
  bool placeFree(std::size_t each) override { return free_ >= asks_[each] && placeOver(each); }
  bool placeOver(std::size_t each) override {
    if (given_ < asks_[each]) return false;
    given_ -= asks_[each];
    free_ -= asks_[each];
    return true;
  }
  std::optional<std::vector<std::size_t>> placeMoving(std::size_t, const std::vector<std::size_t>&) override {
    return std::nullopt;
  }

 private:
  int free_;
  int given_;
  std::vector<int> asks_;
  std::vector<bool> running_;
};

SliceCandidate candidate(const model::ObjectKey& key, double merit, bool running, std::uint32_t shape = 0) {
  return {.rank = {.priority = 0, .merit = merit, .running = running, .submitted = {}, .key = &key},
          .running = running,
          .fixed = false,
          .shape = shape};
}

TEST_CASE("Nobody is stopped but for one that is placed") {
  // The best asks for more than there is at all: the running ones stay.
  OneNode room(8, {9, 4, 4}, {false, true, true});
  const Slice slice =
      timeSlice({candidate(kA, 3, false, 9), candidate(kB, 2, true, 4), candidate(kC, 1, true, 4)}, room);
  CHECK(slice.stop.empty());
  CHECK(slice.start.empty());
}

TEST_CASE("The one with the least merit is stopped, and only as many as need be") {
  OneNode room(8, {4, 4, 4}, {false, true, true});
  const Slice slice =
      timeSlice({candidate(kA, 3, false, 4), candidate(kB, 1, true, 4), candidate(kC, 2, true, 4)}, room);
  CHECK(slice.start == std::vector<std::size_t>{0});
  CHECK(slice.stop == std::vector<std::size_t>{1});
  CHECK(slice.move.empty());
}

TEST_CASE("Who may not be stopped keeps its places whatever its rank") {
  OneNode room(4, {4, 4}, {false, true});
  auto fixed = candidate(kB, 0, true, 4);
  fixed.fixed = true;
  const Slice slice = timeSlice({candidate(kA, 9, false, 4), fixed}, room);
  CHECK(slice.start.empty());
  CHECK(slice.stop.empty());
}

}  // namespace
