#include "codec/priority_class.h"

#include "codec/decode_object.h"

namespace trainyard::codec {
namespace {

model::PriorityClass readPriorityClass(const Field& root) {
  model::PriorityClass priorityClass;
  priorityClass.name = root["metadata"]["name"].required();
  priorityClass.value = static_cast<int>(root["value"].integer(0, INT32_MIN, INT32_MAX));
  priorityClass.globalDefault = root["globalDefault"].boolean(false);
  priorityClass.preempts = root["preemptionPolicy"].text() != "Never";
  return priorityClass;
}

}  // namespace

base::Result<model::PriorityClass> decodePriorityClass(std::string_view json) {
  return decodeObject("priority class", json, readPriorityClass);
}

}  // namespace trainyard::codec
