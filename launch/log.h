#pragma once

#include <cstdio>
#include <string>

namespace trainyard::launch {

inline void log(const std::string& what) { std::fprintf(stderr, "trainyard-launch: %s\n", what.c_str()); }

}  // namespace trainyard::launch
