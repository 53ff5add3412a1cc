# Writes version.h: the project's version and the commit it is built from. Run at every build; the
# file is touched only when its text changes.
set(commit unknown)
find_program(git_program git)
if(git_program)
  execute_process(
    COMMAND ${git_program} describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${ROOT}
    OUTPUT_VARIABLE described
    RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
set(text "#pragma once\n\n#include <string_view>\n\nnamespace tilewise::cli {\n\n")
string(APPEND text "inline constexpr std::string_view kVersion = \"${VERSION}\";\n")
string(APPEND text "inline constexpr std::string_view kCommit = \"${commit}\";\n\n")
string(APPEND text "}  // namespace tilewise::cli\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
