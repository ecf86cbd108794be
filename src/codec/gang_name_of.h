#pragma once

#include <string>
#include <string_view>

namespace trainyard::codec {

// "llama.jobset" of a JobSet llama, "pair.pods" of bare pods. A name that would not fit into a label is cut,
// and gets a hash of the whole.
[[nodiscard]] std::string gangNameOf(std::string_view name, std::string_view kind);

}  // namespace trainyard::codec
