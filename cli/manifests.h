#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "codec/yaml_value.h"

namespace trainyard::cli {

// One object of a file, as it would be sent.
struct Manifest {
  std::string file;
  codec::YamlValue document;
  std::string kind = {};
  std::string ns = {};    // empty: none is named
  std::string name = {};  // empty where metadata.generateName stands for it
  std::string json = {};

  // "job.yaml:12": where the field is that the message names.
  [[nodiscard]] std::string whereOf(std::string_view message) const;
};

// Every object of the files; "-" is standard input. kInvalid says "FILE:LINE: …" for what is no YAML, no
// object, or is not what one can send.
[[nodiscard]] base::Result<std::vector<Manifest>> readManifests(const std::vector<std::string>& files);
// The same of a text; `file` is its name for messages.
[[nodiscard]] base::Result<std::vector<Manifest>> parseManifests(const std::string& text,
                                                                 const std::string& file);

}  // namespace trainyard::cli
