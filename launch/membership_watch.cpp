#include "launch/membership_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "launch/log.h"

namespace trainyard::launch {
namespace {

constexpr std::chrono::seconds kReadAgain{1};

}  // namespace

// Watches the folder, not the file: Kubernetes replaces the folder that the file's symbolic link points to.
MembershipWatch::MembershipWatch(Loop& loop, std::string file, std::function<void(const Membership&)> onRead)
    : loop_(loop), file_(std::move(file)), onRead_(std::move(onRead)) {
  const std::size_t slash = file_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file_.substr(0, slash);
  changes_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (changes_ < 0 ||
      ::inotify_add_watch(changes_, folder.c_str(), IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
    // The number of watches of a node is limited. A member that missed a resize would block all others.
    log(folder + " cannot be watched: it is read once a second");
    readEachSecond();
    return;
  }
  loop_.watch(changes_, POLLIN, [this](short) {
    alignas(inotify_event) std::array<char, 4'096> events{};
    while (::read(changes_, events.data(), events.size()) > 0) {
    }
    readAgain();
  });
}

MembershipWatch::~MembershipWatch() {
  if (changes_ >= 0) ::close(changes_);
}

void MembershipWatch::readEachSecond() {
  loop_.after(kReadAgain, [this] {
    readAgain();
    readEachSecond();
  });
}

void MembershipWatch::readAgain() {
  const auto read = readMembership(file_);
  if (read) return onRead_(*read);
  // No descriptor was free, or the file was being replaced: no further event may come.
  if (again_) return;
  again_ = loop_.after(kReadAgain, [this] {
    again_.reset();
    readAgain();
  });
}

}  // namespace trainyard::launch
