#include "launch/supervisor.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace trainyard::launch {
namespace {

constexpr std::array kPassedOn{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
constexpr int kCannotStart = 127;
constexpr int kEndedBySigterm = 128 + SIGTERM;
constexpr std::chrono::milliseconds kGroupLook{20};
constexpr std::chrono::seconds kReadAgain{1};

int numberIn(const Environment& environment, const std::string& name, int otherwise) {
  const auto found = environment.find(name);
  if (found == environment.end()) return otherwise;
  int number = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return number >= 0 ? number : otherwise;
}

std::string textIn(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

}  // namespace

SupervisorOptions supervisorOptions(const Environment& environment, std::vector<std::string> command) {
  using std::chrono::seconds;
  SupervisorOptions options;
  options.command = std::move(command);
  options.environment = environment;
  options.membershipFile = textIn(environment, "TRAINYARD_MEMBERSHIP");
  options.grace = seconds(numberIn(environment, "TRAINYARD_GRACE_SECONDS", 30));
  options.settle = seconds(numberIn(environment, "TRAINYARD_SETTLE_SECONDS", 15));
  options.keep = textIn(environment, "TRAINYARD_ON_RESIZE") == "keep";
  if (const std::string file = textIn(environment, "TRAINYARD_LAUNCH_TOKEN"); !file.empty())
    options.token = readToken(file);
  options.hubHost = textIn(environment, "TRAINYARD_COORDINATOR");
  options.hubPort = numberIn(environment, "TRAINYARD_HUB_PORT", kHubPort);
  options.slots = numberIn(environment, "TRAINYARD_SLOTS", 1);
  return options;
}

Supervisor::Supervisor(SupervisorOptions options)
    : options_(std::move(options)), self_(memberOf(options_.environment)) {
  // This program may not be process 1, in tests or in a shared process namespace: orphans come to it anyway.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

Supervisor::~Supervisor() {
  if (signals_ >= 0) ::close(signals_);
  if (changes_ >= 0) ::close(changes_);
}

void Supervisor::log(const std::string& what) const {
  std::fprintf(stderr, "trainyard-launch: %s\n", what.c_str());
}

int Supervisor::run() {
  // Names are resolved on the one thread that also handles signals, so lookups must be short. The program's
  // own variables were read before.
  ::setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);
  takeSignals();
  watchMembership();
  if (!options_.membershipFile.empty()) born_ = readMembership(options_.membershipFile);
  now_ = born_;
  if (now_ && !belongs(self_, *now_)) return 0;
  if (!options_.token.empty() && !options_.hubHost.empty()) {
    if (self_.rank == 0) {
      const int listener = listenOn(options_.hubPort);
      if (listener < 0)
        log("no tasks: port " + std::to_string(options_.hubPort) + " is taken");
      else
        hub_ = std::make_unique<Hub>(loop_, listener, options_.token);
    }
    link_ = std::make_unique<MemberLink>(
        loop_, children_, MemberLink::Address{options_.hubHost, options_.hubPort, options_.token},
        MemberLink::Self{self_.role, std::to_string(self_.index), options_.slots, options_.environment},
        [this](const Membership& onMembership) {
          // Without born_ the size behind the variables is unknown: only the member's own file has it.
          if (born_) learn(onMembership);
        });
  }
  startProgram();
  return loop_.run();
}

void Supervisor::takeSignals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int each : kPassedOn) sigaddset(&taken, each);
  sigaddset(&taken, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &taken, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  loop_.watch(signals_, POLLIN, [this](short) {
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      onSignal(static_cast<int>(info.ssi_signo));
  });
}

void Supervisor::onSignal(int signal) {
  if (signal == SIGCHLD) return children_.reap();
  if (signal == SIGTERM || signal == SIGINT || signal == SIGQUIT) {
    ordered_ = true;
    leaveTasks();
  }
  if (program_ > 0 && !(stopping_ && signal == SIGTERM)) ::kill(program_, signal);
  if (ordered_ && program_ == 0 && settle_) {
    loop_.cancel(*settle_);
    settle_.reset();
  }
  endIfDone();
}

// Watch the folder, not the file: Kubernetes replaces the folder that the file's symbolic link points to.
void Supervisor::watchMembership() {
  if (options_.membershipFile.empty()) return;
  const std::size_t slash = options_.membershipFile.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : options_.membershipFile.substr(0, slash);
  changes_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (changes_ < 0 ||
      ::inotify_add_watch(changes_, folder.c_str(), IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
    // The number of watches of a node is limited. A member that missed a resize would block all others.
    log(folder + " cannot be watched: it is read once a second");
    return lookEachSecond();
  }
  loop_.watch(changes_, POLLIN, [this](short) {
    alignas(inotify_event) std::array<char, 4'096> events{};
    while (::read(changes_, events.data(), events.size()) > 0) {
    }
    readAgain();
  });
}

void Supervisor::lookEachSecond() {
  loop_.after(kReadAgain, [this] {
    readAgain();
    lookEachSecond();
  });
}

void Supervisor::readAgain() {
  const auto read = readMembership(options_.membershipFile);
  // No descriptor was free, or the file was being replaced: no further event may come.
  if (!read && !again_) {
    again_ = loop_.after(kReadAgain, [this] {
      again_.reset();
      readAgain();
    });
  }
  if (!read) return;
  if (!born_) born_ = read;
  // The kubelets of other members may be slower. (The membership at birth is not reported: a joining member
  // must not hurry the others, which learn of it once the member has started.)
  const bool newer = !now_ || read->generation > now_->generation;
  if (newer && read->generation > born_->generation && link_) link_->report(*read);
  learn(*read);
}

void Supervisor::learn(const Membership& membership) {
  if (now_ && membership.generation <= now_->generation) return;
  now_ = membership;
  leaving_ = !belongs(self_, *now_);
  log("generation " + std::to_string(now_->generation) + ": " + std::to_string(now_->size) +
      " members of role " + now_->role + (leaving_ ? ", this one leaves" : ""));
  if (leaving_) leaveTasks();
  if (options_.keep && !leaving_) return;
  // A member that computes independently continues at any size.
  if (!self_.rank && !leaving_) return;
  if (program_ > 0) return stopProgram();
  if (settle_) {
    loop_.cancel(*settle_);
    settle_.reset();
    if (!leaving_ && !ordered_) return startProgram();
    code_ = 0;
  }
  endIfDone();
}

void Supervisor::startProgram() {
  Command command{options_.command, options_.environment};
  if (born_ && now_) command.environment = environmentAt(options_.environment, *born_, *now_);
  startedAt_ = now_ ? now_->generation : 0;
  stopping_ = false;
  code_.reset();
  std::string why;
  program_ = children_.start(command, [this](int code) { programEnded(code); }, why);
  if (program_ > 0) return;
  log(why);
  code_ = kCannotStart;
  leaveTasks();
  endIfDone();
}

void Supervisor::stopProgram() {
  if (stopping_) return;
  stopping_ = true;
  ::kill(program_, SIGTERM);
  kill_ = loop_.after(options_.grace, [this] {
    kill_.reset();
    if (program_ > 0) ::kill(-program_, SIGKILL);
  });
}

// A shell script without a SIGTERM handler ends at once, and its children do not receive the signal. The
// whole group gets SIGTERM now, and the rest of the grace.
void Supervisor::programEnded(int code) {
  const bool bySignalFromUs = code == kEndedBySigterm && (stopping_ || ordered_);
  if (bySignalFromUs && ::kill(-program_, SIGTERM) == 0) return awaitGroup(code);
  groupEnded(code);
}

void Supervisor::awaitGroup(int code) {
  if (::kill(-program_, 0) != 0) return groupEnded(code);
  loop_.after(kGroupLook, [this, code] { awaitGroup(code); });
}

void Supervisor::groupEnded(int code) {
  if (kill_) loop_.cancel(*kill_);
  kill_.reset();
  children_.killLeftovers(std::exchange(program_, 0));
  if (leaving_) {
    code_ = 0;
    return endIfDone();
  }
  // A member that computes independently needs no restart at a new generation.
  const bool newer = self_.rank && now_ && now_->generation > startedAt_ && !options_.keep;
  if (!ordered_ && (stopping_ || newer)) return startProgram();
  code_ = code;
  // The failure may follow from a resize: a peer may have restarted at a new size already.
  if (code != 0 && !ordered_ && now_ && self_.rank && !options_.keep && options_.settle.count() > 0) {
    settle_ = loop_.after(options_.settle, [this] {
      settle_.reset();
      leaveTasks();
      endIfDone();
    });
    return;
  }
  leaveTasks();
  endIfDone();
}

void Supervisor::leaveTasks() {
  if (!link_) {
    tasksLeft_ = true;
    return;
  }
  link_->leave(options_.grace, [this] {
    tasksLeft_ = true;
    endIfDone();
  });
}

void Supervisor::endIfDone() {
  if (program_ > 0 || !code_ || settle_ || !tasksLeft_) return;
  loop_.stop(*code_);
}

}  // namespace trainyard::launch
