# cmake -DOUT=page_files.cpp -P cmake/embed.cmake FILE...: a source file with the contents of all of them. Bytes, as no
# string literal needs to be longer than 65,536 characters.
set(files)
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(seen)
    list(APPEND files "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} MATCHES "embed.cmake$")
    set(seen TRUE)
  endif()
endforeach()

set(arrays)
set(rows)
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char kFile${count}[] = {${bytes}};\n")
  string(APPEND rows "      {\"${name}\", textOf(kFile${count}, sizeof kFile${count})},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUT}" "// Written by cmake/embed.cmake.
#include <array>
#include <cstddef>

#include \"operator/console/page_files.h\"

namespace trainyard::operator_::console {
namespace {

${arrays}
std::string_view textOf(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> pageFiles() {
  static const std::array<std::pair<std::string_view, std::string_view>, ${count}> kFiles{{
${rows}  }};
  return kFiles;
}

}  // namespace trainyard::operator_::console
")
