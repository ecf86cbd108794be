#include "launch/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace trainyard::launch {
namespace {

constexpr std::array kPassedOn{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};

}  // namespace

Signals::Signals(Loop& loop, std::function<void(int signal)> onSignal) {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int each : kPassedOn) sigaddset(&taken, each);
  sigaddset(&taken, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &taken, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  fd_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  loop.watch(fd_, POLLIN, [fd = fd_, onSignal = std::move(onSignal)](short) {
    signalfd_siginfo info{};
    while (::read(fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      onSignal(static_cast<int>(info.ssi_signo));
  });
}

Signals::~Signals() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace trainyard::launch
