#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/status.h"

namespace trainyard::codec {

// One page of a list answer. Items are the texts of the objects as the server wrote them. Items of a list
// have no apiVersion and kind; items of a watch have both.
struct ObjectList {
  std::string resourceVersion;
  std::string continueToken;  // empty on the last page
  std::vector<std::string> items = {};
};

// kInvalid if the body is not well-formed JSON of a list.
[[nodiscard]] base::Result<ObjectList> decodeList(std::string body);

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchEventType type = WatchEventType::kError;
  std::string object = {};                      // empty for kBookmark and kError
  std::string resourceVersion = {};             // empty for kError
  std::optional<Status> status = std::nullopt;  // of kError
};

// Decodes one line of a watch. Returns kInvalid unless it is one complete, well-formed event.
[[nodiscard]] base::Result<WatchEvent> decodeWatchEvent(std::string line);

}  // namespace trainyard::codec
