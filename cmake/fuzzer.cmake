# Fuzzers: libFuzzer programs, built where TILEWISE_BUILD_FUZZERS is on.

# tilewise_instrument(TARGET): coverage counters in TARGET's code, for the fuzzers that link it.
function(tilewise_instrument target)
  if(TILEWISE_BUILD_FUZZERS)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
      message(FATAL_ERROR "TILEWISE_BUILD_FUZZERS needs clang (libFuzzer); take the preset asan or fuzz")
    endif()
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# tilewise_fuzzer(NAME SOURCES...): a program build/<preset>/fuzz/NAME that defines
# LLVMFuzzerTestOneInput; may include private headers of src/. Its seeds are the files of
# tests/fuzz/corpus/NAME/. `make test` runs each program of that folder for 20 seconds, `make check`
# for five minutes.
function(tilewise_fuzzer name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tilewise::tilewise)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  tilewise_warnings(${name})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endfunction()
