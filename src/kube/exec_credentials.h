#pragma once

#include <memory>

#include "base/executor.h"
#include "base/log.h"
#include "kube/config.h"
#include "kube/credentials.h"

namespace trainyard::kube {

// Tokens of a credential plug-in. The program runs on its own thread, one instance at a time. Its token is
// used until shortly before it expires, or until the server refuses it. A failure is cached for two seconds,
// so that a broken plug-in is not started for every request. The destructor kills a running plug-in.
[[nodiscard]] std::unique_ptr<CredentialSource> makeExecCredentials(ExecPlugin plugin,
                                                                    base::Executor& executor,
                                                                    base::Logger log);

}  // namespace trainyard::kube
