#include "net/tls_follower.h"

#include <utility>

namespace trainyard::net {

TlsFollower::TlsFollower(TlsFiles files, TlsServerConfig now, HttpServer& server, base::Executor& executor,
                         base::Logger log)
    : files_(std::move(files)),
      now_(std::move(now)),
      server_(server),
      executor_(executor),
      log_(std::move(log)) {
  poll();
}

TlsFollower::~TlsFollower() { executor_.cancel(timer_); }

void TlsFollower::poll() {
  timer_ = executor_.postAfter(kPoll, [this] {
    look();
    poll();
  });
}

void TlsFollower::look() {
  auto read = readTlsFiles(files_);
  if (read && *read == now_) return;
  const auto taken = read ? server_.reloadTls(*read) : base::Result<void>(base::fail(read.error()));
  if (!taken) {
    if (std::exchange(lastError_, taken.error().message) == taken.error().message) return;
    log_.warning("certificates cannot be used, the old ones stay", {{"error", taken.error().message}});
    return;
  }
  lastError_.clear();
  now_ = std::move(*read);
  log_.info("certificates were read again");
}

}  // namespace trainyard::net
