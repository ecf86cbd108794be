#include <catch2/catch.hpp>

#include "base/virtual_loop.h"
#include "net/stream_delivery.h"

namespace trainyard::net::test {
namespace {

struct Fixture {
  base::VirtualLoop loop;
  std::vector<std::string> lines;
  int ends = 0;
  int resumed = 0;

  std::shared_ptr<StreamDelivery> make(std::size_t maxWaiting = 1000) {
    return std::make_shared<StreamDelivery>(
        loop,
        StreamCallbacks{.onLine = [this](std::string line) { lines.push_back(std::move(line)); },
                        .onEnd = [this](const auto&) { ++ends; }},
        maxWaiting);
  }
  bool push(StreamDelivery& delivery, std::vector<std::string> pushed) {
    return delivery.push(std::move(pushed), [this] { ++resumed; });
  }
  void drain() {
    while (loop.step()) {
    }
  }
};

TEST_CASE_METHOD(Fixture, "Lines arrive in order and then the end once") {
  const auto delivery = make();
  CHECK(push(*delivery, {"a", "b"}));
  CHECK(push(*delivery, {"c"}));
  CHECK(delivery->finish(HttpResponse{.status = 200}));
  CHECK_FALSE(delivery->finish(HttpResponse{.status = 500}));
  CHECK(push(*delivery, {"too late"}));
  CHECK(lines.empty());
  drain();
  CHECK(lines == std::vector<std::string>{"a", "b", "c"});
  CHECK(ends == 1);
}

TEST_CASE_METHOD(Fixture, "A burst leaves time for other tasks of the loop") {
  const auto delivery = make(1'000'000);
  CHECK(push(*delivery, std::vector<std::string>(1000, "x")));
  std::size_t linesBefore = 0;
  loop.post([&] { linesBefore = lines.size(); });
  drain();
  CHECK(linesBefore > 0);
  CHECK(linesBefore < 200);
  CHECK(lines.size() == 1000);
}

TEST_CASE_METHOD(Fixture, "A reader waits and is resumed once there is capacity") {
  const auto delivery = make(10);
  CHECK(push(*delivery, {"0123456789"}));
  CHECK_FALSE(push(*delivery, {"x"}));
  CHECK(resumed == 0);
  drain();
  CHECK(resumed == 1);
  CHECK(lines.size() == 2);
  CHECK(push(*delivery, {"y"}));
}

TEST_CASE_METHOD(Fixture, "Cancelling drops waiting lines and resumes the reader") {
  const auto delivery = make(1);
  CHECK_FALSE(push(*delivery, {"abc", "def"}));
  delivery->cancel();
  CHECK(resumed == 1);
  CHECK(delivery->over());
  CHECK_FALSE(delivery->finish(HttpResponse{}));
  drain();
  CHECK(lines.empty());
  CHECK(ends == 0);
}

TEST_CASE("The captures of the callbacks are released after the end even if that cancels the stream") {
  base::VirtualLoop loop;
  std::shared_ptr<StreamDelivery> delivery;
  struct CancelOnDestruction {
    std::shared_ptr<StreamDelivery>& delivery;
    ~CancelOnDestruction() { delivery->cancel(); }
  };
  auto guard = std::make_shared<CancelOnDestruction>(delivery);
  std::weak_ptr<CancelOnDestruction> watch = guard;
  delivery = std::make_shared<StreamDelivery>(
      loop, StreamCallbacks{.onLine = [guard](const std::string&) {}, .onEnd = [](const auto&) {}}, 100);
  guard.reset();
  CHECK_FALSE(watch.expired());
  CHECK(delivery->finish(HttpResponse{}));
  while (loop.step()) {
  }
  CHECK(watch.expired());
}

}  // namespace
}  // namespace trainyard::net::test
