#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

// What leaves the cluster in a support bundle. Pure.
namespace trainyard::cli {

// A bare word may be a secret, and nothing can tell.
enum class Arguments {
  kNamesOnly,  // of commands and arguments: the program and the names of flags
  kKeep,       // all but what looks like a secret
};

// The object without what may be secret: values of environment variables, of probes' headers and of volumes'
// attributes, arguments, annotations but those in a list (kKept), private keys and tokens in any text, what
// follows words like password or token, the copy of the object that kubectl keeps in an annotation, managed
// fields; of a Secret all data. A list's items each. `arguments` is for annotations as well.
[[nodiscard]] base::Result<std::string> withoutSecrets(std::string_view json,
                                                       Arguments arguments = Arguments::kNamesOnly);
// A log, or any other text, without what looks like a secret.
[[nodiscard]] std::string textWithoutSecrets(std::string_view text);

}  // namespace trainyard::cli
