#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/status.h"

namespace trainyard::codec {

// One page of a list answer. Items are the texts of the objects as the server wrote them; those of a list
// carry no apiVersion and kind, those of a watch do.
struct ObjectList {
  std::string resourceVersion;
  std::string continueToken;  // empty on the last page
  std::vector<std::string> items = {};
};

// kInvalid when it is not well-formed JSON of a list.
[[nodiscard]] base::Result<ObjectList> decodeList(std::string body);

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchEventType type = WatchEventType::kError;
  std::string object = {};                      // empty for kBookmark and kError
  std::string resourceVersion = {};             // empty for kError
  std::optional<Status> status = std::nullopt;  // of kError
};

// One line of a watch. kInvalid for anything else than a whole, well-formed event.
[[nodiscard]] base::Result<WatchEvent> decodeWatchEvent(std::string line);

}  // namespace trainyard::codec
