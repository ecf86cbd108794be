#include "cli/plain_text.h"

#include "base/plain_text.h"

namespace trainyard::cli {

std::string plainText(std::string_view text, bool keepLines) { return base::plainText(text, keepLines); }

}  // namespace trainyard::cli
