#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "codec/yaml_value.h"

namespace trainyard::cli {

// One object of a file, in the form that is sent to the server.
struct Manifest {
  std::string file;
  codec::YamlValue document;
  std::string kind = {};
  std::string ns = {};    // empty: none is given
  std::string name = {};  // empty if metadata.generateName replaces it
  std::string json = {};

  // Returns "job.yaml:12": the position of the field that the message names.
  [[nodiscard]] std::string whereOf(std::string_view message) const;
};

// Returns every object of the files; "-" is standard input. kInvalid with "FILE:LINE: …" if a document
// is not YAML, not an object, or cannot be sent.
[[nodiscard]] base::Result<std::vector<Manifest>> readManifests(const std::vector<std::string>& files);
// The same for a text; `file` is its name in messages.
[[nodiscard]] base::Result<std::vector<Manifest>> parseManifests(const std::string& text,
                                                                 const std::string& file);

}  // namespace trainyard::cli
