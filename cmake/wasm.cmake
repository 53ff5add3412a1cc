# The explorer's WebAssembly module: the pure parts of the library and src/web, compiled by clang 19 with
# Debian's WASI library. Sets TILEWISE_WASM to ON or OFF, and says what was found.
#
# tilewise_wasm_module(OUTPUT): a target `tilewise_wasm` that builds the file OUTPUT.
find_program(TILEWISE_WASM_COMPILER NAMES clang++-19)
find_program(TILEWISE_WASM_LAUNCHER NAMES ccache)
mark_as_advanced(TILEWISE_WASM_COMPILER TILEWISE_WASM_LAUNCHER)

set(TILEWISE_WASM_FLAGS
    --target=wasm32-wasi -std=c++23 -Oz -fno-exceptions -fno-rtti -fvisibility=hidden
    -ffunction-sections -fdata-sections -Wall -Wextra -Werror)

if(TILEWISE_WASM_COMPILER AND NOT TILEWISE_WASM_WORKS)
  file(WRITE ${PROJECT_BINARY_DIR}/wasm/probe.cpp
       "#include <expected>\n#include <string>\nstd::string text;\n")
  execute_process(
    COMMAND ${TILEWISE_WASM_COMPILER} ${TILEWISE_WASM_FLAGS} -mexec-model=reactor
            ${PROJECT_BINARY_DIR}/wasm/probe.cpp -o ${PROJECT_BINARY_DIR}/wasm/probe.wasm
    RESULT_VARIABLE result
    OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    set(TILEWISE_WASM_WORKS ON CACHE INTERNAL "The module's compiler, library and linker are here")
  endif()
endif()
if(TILEWISE_WASM_WORKS)
  set(TILEWISE_WASM ON)
  message(STATUS "Explorer: its module is built by ${TILEWISE_WASM_COMPILER}")
else()
  set(TILEWISE_WASM OFF)
  message(STATUS "Explorer: left out, no clang++-19 with a C++ library for wasm32-wasi "
                 "(Debian: clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libclang-rt-19-dev-wasm32)")
endif()

function(tilewise_wasm_module output)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/epilogue/*.cpp
       ${PROJECT_SOURCE_DIR}/src/schedule/*.cpp ${PROJECT_SOURCE_DIR}/src/model/*.cpp
       ${PROJECT_SOURCE_DIR}/src/simulate/*.cpp ${PROJECT_SOURCE_DIR}/src/web/*.cpp)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/src/io/json_writer.cpp)
  set(objects)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
    string(REPLACE "/" "_" name ${name})
    set(object ${PROJECT_BINARY_DIR}/wasm/${name}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${TILEWISE_WASM_LAUNCHER} ${TILEWISE_WASM_COMPILER} ${TILEWISE_WASM_FLAGS}
              -I ${PROJECT_SOURCE_DIR}/include -I ${PROJECT_SOURCE_DIR}/src
              -I ${PROJECT_SOURCE_DIR}/kernels -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Building ${name} for WebAssembly"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND
      ${TILEWISE_WASM_COMPILER} --target=wasm32-wasi -mexec-model=reactor -Oz -Wl,--gc-sections
      -Wl,--strip-all -Wl,-z,stack-size=262144 ${objects} -o ${output}
    DEPENDS ${objects}
    COMMENT "Linking the explorer's module"
    VERBATIM)
  add_custom_target(tilewise_wasm DEPENDS ${output})
endfunction()
