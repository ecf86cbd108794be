#pragma once

// Internal to src/sim: requests that read objects.

#include "sim/api/request_info.h"
#include "sim/api/store.h"

namespace trainyard::sim {

// Answers the requests that read objects.
class ObjectReader {
 public:
  // The store must outlive the reader.
  explicit ObjectReader(const ApiStore& store) : store_(store) {}

  [[nodiscard]] Outcome<Answer> get(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Answer> log(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Answer> list(const RequestInfo& info) const;

 private:
  const ApiStore& store_;
};

}  // namespace trainyard::sim
