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

// Who we are towards the API server. Lives on the executor's loop.
class CredentialSource {
 public:
  CredentialSource() = default;
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;
  virtual ~CredentialSource() = default;

  // Gives the value of the Authorization header, empty for none; at once or later. kUnavailable says why
  // there is no credential now.
  virtual void authorization(AuthorizationCallback done) = 0;
  // The server answered 401 to this value: forget it, unless it was replaced meanwhile.
  virtual void refused(std::string_view value) = 0;
};

// `value` for ever: "Bearer …", "Basic …", or empty where a client certificate speaks for us.
[[nodiscard]] std::unique_ptr<CredentialSource> makeStaticCredentials(std::string value);

// A bearer token in a file that others rotate: read again after a minute and after a 401. While the file
// cannot be read, the last token goes on serving.
[[nodiscard]] std::unique_ptr<CredentialSource> makeTokenFileCredentials(std::string path,
                                                                         base::Executor& executor,
                                                                         base::Logger log);

}  // namespace trainyard::kube
