#pragma once

#include "codec/json_writer.h"

namespace trainyard::codec {

// Writes into an open `metadata` of a patch. The API server then drops the record of which client wrote which
// field, and keeps none until a client uses server-side apply on the object.
inline void forgetManagedFields(JsonWriter& out) {
  // A list with one empty entry clears the record.
  out.key("managedFields").beginArray().beginObject().endObject().endArray();
}

}  // namespace trainyard::codec
