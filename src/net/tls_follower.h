#pragma once

#include <chrono>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "net/server.h"
#include "net/tls_files.h"

namespace trainyard::net {

// Updates a server with the contents of its certificate files when they change. Unusable files change
// nothing: often they are just being replaced, and the next poll reads the rest. It compares contents, not
// times: a mounted Secret is replaced by a symbolic link, and file times may decrease. Runs on the executor's
// loop.
class TlsFollower {
 public:
  static constexpr std::chrono::seconds kPoll{10};

  // `now` is what the server was started with. Server and executor must outlive this object.
  TlsFollower(TlsFiles files, TlsServerConfig now, HttpServer& server, base::Executor& executor,
              base::Logger log);
  ~TlsFollower();
  TlsFollower(const TlsFollower&) = delete;
  TlsFollower& operator=(const TlsFollower&) = delete;

  // The configuration that the server uses now.
  [[nodiscard]] const TlsServerConfig& current() const { return now_; }

 private:
  void poll();
  void look();

  const TlsFiles files_;
  TlsServerConfig now_;
  HttpServer& server_;
  base::Executor& executor_;
  base::Logger log_;
  std::string lastError_;  // the last logged error: each is logged once
  base::TimerId timer_{};
};

}  // namespace trainyard::net
