#include "codec/delete_options.h"

#include <nlohmann/json.hpp>

namespace trainyard::codec {

std::string encode(const DeleteOptions& options) {
  nlohmann::json json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (options.uid) json["preconditions"]["uid"] = *options.uid;
  if (options.resourceVersion) json["preconditions"]["resourceVersion"] = *options.resourceVersion;
  if (options.gracePeriodSeconds) json["gracePeriodSeconds"] = *options.gracePeriodSeconds;
  if (options.propagationPolicy) json["propagationPolicy"] = *options.propagationPolicy;
  return json.dump();
}

}  // namespace trainyard::codec
