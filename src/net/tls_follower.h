#pragma once

#include <chrono>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "net/server.h"
#include "net/tls_files.h"

namespace trainyard::net {

// Gives a server the contents of its certificate files whenever they change. Files that cannot be used change
// nothing: often they are in the middle of being replaced, and the next look sees the rest. Contents, not
// times: a mounted Secret changes by a symbolic link, and its files' times may go back. Lives on the
// executor's loop.
class TlsFollower {
 public:
  static constexpr std::chrono::seconds kPoll{10};

  // `now`: what the server was started with. Server and executor must outlive this.
  TlsFollower(TlsFiles files, TlsServerConfig now, HttpServer& server, base::Executor& executor,
              base::Logger log);
  ~TlsFollower();
  TlsFollower(const TlsFollower&) = delete;
  TlsFollower& operator=(const TlsFollower&) = delete;

  // What the server has now.
  [[nodiscard]] const TlsServerConfig& current() const { return now_; }

 private:
  void poll();
  void look();

  const TlsFiles files_;
  TlsServerConfig now_;
  HttpServer& server_;
  base::Executor& executor_;
  base::Logger log_;
  std::string said_;  // what was wrong the last time: once is enough
  base::TimerId timer_{};
};

}  // namespace trainyard::net
