#pragma once

// Internal to src/sim: the bodies of requests.

#include <string>
#include <vector>

#include "sim/api/registry.h"
#include "sim/api/request_info.h"

namespace trainyard::sim {

// Reads the bodies of requests as objects.
class BodyDecoder {
 public:
  // The registry must outlive the decoder.
  explicit BodyDecoder(const Registry& registry) : registry_(registry) {}

  // `duplicates` gets the paths of fields that the body has twice, for a strict request.
  [[nodiscard]] Outcome<Json> parse(const RequestInfo& info, std::vector<std::string>& duplicates) const;
  // Decodes a client's document as an object of the type: known members, typed values, defaults filled in.
  // `patched` marks the result of a patch, for which errors are 422 instead of 400.
  [[nodiscard]] Outcome<Json> decode(const RequestInfo& info, Json document, bool patched,
                                     std::vector<std::string> complaints) const;
  // Parses and decodes the body of the request.
  [[nodiscard]] Outcome<Json> decodeBody(const RequestInfo& info) const;

 private:
  [[nodiscard]] Outcome<Json> decodeCustom(const RequestInfo& info, Json document,
                                           std::vector<std::string>& complaints) const;

  const Registry& registry_;
};

}  // namespace trainyard::sim
