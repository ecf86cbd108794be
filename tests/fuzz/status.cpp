#include "codec/status.h"

#include "base/json_text.h"
#include "codec/json_value.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void status(std::string_view input) {
  if (const auto status = codec::decodeStatus(input)) {
    const base::Error error = codec::errorFromStatus(*status, "GET /x");
    require(error.message.starts_with("GET /x"), "an error names the request");
  }
  for (const int code : {400, 409, 500}) {
    const base::Error error = codec::errorFromAnswer(code, input, "GET /x");
    require(error.message.starts_with("GET /x"), "an error names the request");
    require(codec::JsonDocument::parse(base::quoteJson(error.message)).has_value(),
            "an error can be written into a log line");
  }
}

}  // namespace trainyard::fuzz
