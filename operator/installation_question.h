#pragma once

#include <functional>
#include <string>

#include "kube/api_client.h"
#include "net/http.h"

namespace trainyard::operator_ {

// One check of an installation. `ask` passes on what is wrong with the answer, or an empty text. `ask` may be
// called again.
struct InstallationQuestion {
  std::string what;
  std::function<void(std::function<void(std::string problem)>)> ask;
};

// Whether objects of a kind can be listed.
[[nodiscard]] InstallationQuestion kindIsServed(std::string what, std::string path, kube::ApiClient& api);
// Whether an operator holds the Lease and renews it.
[[nodiscard]] InstallationQuestion operatorLeads(std::string leasePath, kube::ApiClient& api);
// Whether the extender answers this client over TLS.
[[nodiscard]] InstallationQuestion extenderAnswers(net::HttpClient& extender);

}  // namespace trainyard::operator_
