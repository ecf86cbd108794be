#include "base/stop_signal.h"

#include <csignal>
#include <thread>
#include <utility>

namespace trainyard::base {

void onStopSignal(Executor& loop, std::function<void()> onStop) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, &loop, onStop = std::move(onStop)] {
    int received = 0;
    sigwait(&signals, &received);
    loop.post(onStop);
  }).detach();
}

}  // namespace trainyard::base
