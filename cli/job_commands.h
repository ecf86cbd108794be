#pragma once

#include <string>

#include "base/error.h"
#include "cli/cluster_client.h"

namespace trainyard::cli {

struct JobFlags {
  ConnectFlags connect = {};
  std::string ns = {};  // empty: that of the context
  bool allNamespaces = false;
  std::string selector = {};  // of labels; empty: all
  bool json = false;
  std::string job = {};  // NAME or NAMESPACE/NAME
};

// Each returns the text to print, or an error. kNotFound names the job and the cluster that was searched.
[[nodiscard]] base::Result<std::string> runStatus(const JobFlags& flags);
[[nodiscard]] base::Result<std::string> runExplain(const JobFlags& flags);

}  // namespace trainyard::cli
