#include "operator/worker_thread.h"

#include <future>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using trainyard::base::EventLoop;
using trainyard::base::Task;
using trainyard::operator_::WorkerThread;

TEST_CASE("Long work runs beside the loop in order and is answered on the loop") {
  EventLoop loop;
  WorkerThread worker(loop);
  const auto offload = worker.offload();
  const auto here = std::this_thread::get_id();
  std::vector<int> answered;
  for (const int each : {1, 2, 3}) {
    offload([&, each]() -> Task {
      const bool beside = std::this_thread::get_id() != here;
      return [&, each, beside] {
        CHECK(beside);
        CHECK(std::this_thread::get_id() == here);
        answered.push_back(each);
        if (each == 3) loop.stop();
      };
    });
  }
  loop.run();
  CHECK(answered == std::vector<int>{1, 2, 3});
}

TEST_CASE("The destructor waits for work under way") {
  EventLoop loop;
  std::promise<void> begun;
  bool ended = false;
  {
    WorkerThread worker(loop);
    worker.offload()([&]() -> Task {
      begun.set_value();
      for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
      ended = true;
      return [] {};
    });
    begun.get_future().wait();
  }
  CHECK(ended);
}
