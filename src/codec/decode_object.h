#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/field.h"

namespace trainyard::codec {

// Formats "pod ml/bert-worker-0: spec.nodeName: expected a string, is 5". Namespace and name are included as
// far as they can be read.
[[nodiscard]] base::Error objectError(std::string_view kind, const JsonValue& object,
                                      std::string_view complaint);

// Runs `read(Field root)` over the object's text and turns the first complaint into an error that names the
// object. Text that is not an object is an error as well. `quantities`: see FieldErrors.
template <typename Read>
[[nodiscard]] auto decodeObject(std::string_view kind, std::string_view json, Read&& read,
                                base::OutOfRange quantities = base::OutOfRange::kRefuse)
    -> base::Result<decltype(read(std::declval<const Field&>()))> {
  auto document = JsonDocument::parseObject(json);
  if (!document) return base::fail(objectError(kind, {}, document.error().message));
  if (document->root().type() != JsonType::kObject)
    return base::fail(objectError(kind, {}, "expected an object"));
  FieldErrors errors(quantities);
  const Field root(document->root(), errors);
  auto object = read(root);
  if (errors.any()) return base::fail(objectError(kind, document->root(), errors.first()));
  return object;
}

}  // namespace trainyard::codec
