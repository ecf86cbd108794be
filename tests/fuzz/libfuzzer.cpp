// TRAINYARD_FUZZ_TARGET is the function of the program that this is compiled for.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainyard::fuzz::TRAINYARD_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
