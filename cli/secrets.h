#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

// Removes secrets from what leaves the cluster in a support bundle. Pure.
namespace trainyard::cli {

// An argument without a name may be a secret, and no pattern can detect it.
enum class Arguments {
  kNamesOnly,  // keep the program and the names of flags
  kKeep,       // keep all but what looks like a secret
};

// Removes what may be secret: values of environment variables, of probes' headers and of volumes' attributes;
// arguments; annotations outside of kKept; all data of a Secret. Also removes private keys and tokens in any
// text, text after names like password or token, kubectl's copy of the object, and managed fields. Cleans
// each item of a list. `arguments` also applies to annotations.
[[nodiscard]] base::Result<std::string> withoutSecrets(std::string_view json,
                                                       Arguments arguments = Arguments::kNamesOnly);
// Returns a log, or any other text, without what looks like a secret.
[[nodiscard]] std::string textWithoutSecrets(std::string_view text);

}  // namespace trainyard::cli
