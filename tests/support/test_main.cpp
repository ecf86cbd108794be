// The main of every test program. It ends without exit handlers, as the product's programs do
// (net/end_process.h): one of cpprestsdk's handlers occasionally deadlocks, and a passing test would never
// end. LeakSanitizer checks in such a handler too, so it is called explicitly before.
#define CATCH_CONFIG_RUNNER
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>

// gcc indicates it by a macro, clang by a feature.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define TRAINYARD_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TRAINYARD_ADDRESS_SANITIZER
#endif

#ifdef TRAINYARD_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  std::fflush(nullptr);
#ifdef TRAINYARD_ADDRESS_SANITIZER
  __lsan_do_leak_check();
#endif
  ::_exit(failed > 255 ? 255 : failed);
}
