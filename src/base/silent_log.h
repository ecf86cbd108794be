#pragma once

#include <string_view>

#include "base/log.h"

namespace trainyard::base {

// Drops every line.
class SilentSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

}  // namespace trainyard::base
