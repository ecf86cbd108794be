#pragma once

#include "codec/json_writer.h"

namespace trainyard::codec {

// Into an open `metadata` of a patch: the API server forgets which client wrote which field, and from then on
// keeps no account of it until somebody applies the object server-side.
inline void forgetManagedFields(JsonWriter& out) {
  // One empty entry is its word for none.
  out.key("managedFields").beginArray().beginObject().endObject().endArray();
}

}  // namespace trainyard::codec
