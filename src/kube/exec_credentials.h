#pragma once

#include <memory>

#include "base/executor.h"
#include "base/log.h"
#include "kube/config.h"
#include "kube/credentials.h"

namespace trainyard::kube {

// Tokens from a credential plug-in. The program runs on a thread of its own, one at a time; its token serves
// until shortly before it expires or until the server refuses it. A failure is remembered for two seconds, so
// that a broken plug-in is not started once per request. Destroying it ends a running plug-in.
[[nodiscard]] std::unique_ptr<CredentialSource> makeExecCredentials(ExecPlugin plugin,
                                                                    base::Executor& executor,
                                                                    base::Logger log);

}  // namespace trainyard::kube
