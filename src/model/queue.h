#pragma once

#include <cstdint>
#include <string>

#include "model/ids.h"

namespace trainyard::model {

struct Queue {
  QueueName name;
  Uid uid;
  QueueName parent;
  std::int64_t weight = 1;
};

struct PriorityClass {
  std::string name;
  int value = 0;
  bool globalDefault = false;
};

}  // namespace trainyard::model
