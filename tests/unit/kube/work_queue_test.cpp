#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "base/rng.h"
#include "base/virtual_loop.h"
#include "kube/work_queue.h"

namespace trainyard::kube {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  base::VirtualLoop loop;
  std::vector<std::string> begun;
  std::vector<std::pair<std::string, std::function<void()>>> open;

  std::unique_ptr<WorkQueue<std::string>> make(WorkQueueOptions options = {}) {
    return std::make_unique<WorkQueue<std::string>>(options, loop, [this](const std::string& key, auto done) {
      begun.push_back(key);
      open.emplace_back(key, std::move(done));
    });
  }
  void finishFirst() {
    const auto done = open.front().second;
    open.erase(open.begin());
    done();
    loop.runFor(0s);
  }
};

TEST_CASE_METHOD(Fixture, "a waiting key counts once after any number of additions") {
  const auto queue = make();
  for (int i = 0; i < 3; ++i) queue->add("a");
  queue->add("b");
  CHECK(begun.empty());  // never inside add()
  loop.runFor(0s);
  CHECK(begun == std::vector<std::string>{"a"});
  finishFirst();
  finishFirst();
  CHECK(begun == std::vector<std::string>{"a", "b"});
  CHECK(queue->size() == 0);
  CHECK(queue->processing() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "a key added while it is processed is processed once more and never twice at once") {
  const auto queue = make({.workers = 4});
  queue->add("a");
  loop.runFor(0s);
  queue->add("a");
  queue->add("a");
  loop.runFor(1s);
  CHECK(begun.size() == 1);
  finishFirst();
  CHECK(begun == std::vector<std::string>{"a", "a"});
  finishFirst();
  loop.runFor(1s);
  CHECK(begun.size() == 2);
}

TEST_CASE_METHOD(Fixture, "no more keys at once than workers") {
  const auto queue = make({.workers = 2});
  for (const char* key : {"a", "b", "c"}) queue->add(key);
  loop.runFor(0s);
  CHECK(begun.size() == 2);
  finishFirst();
  CHECK(begun.size() == 3);
}

TEST_CASE_METHOD(Fixture, "back-off doubles per key from 5 ms to 1000 s until it is forgotten") {
  const auto queue = make();
  base::Instant::duration expected = 5ms;
  for (int i = 0; i < 25; ++i) {
    const auto asked = loop.now();
    queue->addRateLimited("a");
    CHECK(queue->failures("a") == i + 1);
    REQUIRE(loop.runUntilTrue([&] { return begun.size() == static_cast<std::size_t>(i) + 1; }, 2000s));
    CHECK(loop.now() - asked == std::min<base::Instant::duration>(expected, 1000s));
    finishFirst();
    expected *= 2;
  }
  queue->forget("a");
  CHECK(queue->failures("a") == 0);
  const auto asked = loop.now();
  queue->addRateLimited("a");
  loop.runUntilTrue([&] { return begun.size() == 26; }, 10s);
  CHECK(loop.now() - asked == 5ms);
}

TEST_CASE_METHOD(Fixture, "the earliest of several delays counts") {
  const auto queue = make();
  queue->addAfter("a", 10s);
  queue->addAfter("a", 2s);
  queue->addAfter("a", 5s);
  loop.runFor(1999ms);
  CHECK(begun.empty());
  loop.runFor(1ms);
  CHECK(begun.size() == 1);
  finishFirst();
  loop.runFor(1h);
  CHECK(begun.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a destroyed queue hands out nothing and late answers are ignored") {
  auto queue = make();
  queue->add("a");
  loop.runFor(0s);
  queue->add("b");
  queue->addAfter("c", 1s);
  queue.reset();
  finishFirst();
  loop.runFor(10s);
  CHECK(begun.size() == 1);
}

TEST_CASE("no wake-up is lost and no key overlaps itself in any order") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    base::VirtualLoop loop;
    base::Rng rng(seed);
    std::map<int, int> running;
    std::map<int, bool> changed;  // since the last start of its processing
    bool overlap = false;
    WorkQueue<int> queue({.workers = 3}, loop, [&](const int& key, auto done) {
      overlap = overlap || ++running[key] > 1;
      changed[key] = false;
      loop.postAfter(std::chrono::milliseconds(rng.between(0, 20)), [&running, key, done] {
        --running[key];
        done();
      });
    });
    for (int i = 0; i < 200; ++i) {
      loop.postAt(base::Instant{} + std::chrono::milliseconds(rng.between(0, 300)),
                  [&, key = int(rng.below(5))] {
                    changed[key] = true;
                    rng.chance(1, 3) ? queue.addAfter(key, std::chrono::milliseconds(rng.between(0, 30)))
                                     : queue.add(key);
                  });
    }
    loop.runFor(10s);
    CHECK_FALSE(overlap);
    for (const auto& [key, still] : changed) CHECK_FALSE(still);
  }
}

}  // namespace
}  // namespace trainyard::kube
