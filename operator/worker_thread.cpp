#include "operator/worker_thread.h"

#include <unistd.h>

#include <utility>

namespace trainyard::operator_ {
namespace {

constexpr int kNice = 5;

}  // namespace

WorkerThread::WorkerThread(base::Executor& loop) : answers_(loop) {
  thread_ = std::thread([this] {
    // On Linux, nice() affects the calling thread only. A failure does no harm.
    [[maybe_unused]] const int set = ::nice(kNice);
    work_.run();
  });
}

WorkerThread::~WorkerThread() {
  work_.stop();
  thread_.join();
}

Offload WorkerThread::offload() {
  return [this](std::function<base::Task()> work) {
    work_.post([this, work = std::move(work)] { answers_.post(work()); });
  };
}

}  // namespace trainyard::operator_
