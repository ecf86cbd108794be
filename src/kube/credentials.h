#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"

namespace trainyard::kube {

using AuthorizationCallback = std::function<void(base::Result<std::string>)>;

// The identity of this program for the API server. Runs on the executor's loop.
class CredentialSource {
 public:
  CredentialSource() = default;
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;
  virtual ~CredentialSource() = default;

  // Passes the value of the Authorization header to `done`, empty for none, immediately or later.
  // kUnavailable reports why there is no credential now.
  virtual void authorization(AuthorizationCallback done) = 0;
  // The server answered 401 to this value: drops it, unless it was replaced in the meantime.
  virtual void refused(std::string_view value) = 0;
};

// Always returns `value`: "Bearer …", "Basic …", or empty if a client certificate authenticates the client.
[[nodiscard]] std::unique_ptr<CredentialSource> makeStaticCredentials(std::string value);

// A bearer token in a rotated file: it is read again after a minute and after a 401. While the file is
// unreadable, the last token stays in use.
[[nodiscard]] std::unique_ptr<CredentialSource> makeTokenFileCredentials(std::string path,
                                                                         base::Executor& executor,
                                                                         base::Logger log);

}  // namespace trainyard::kube
