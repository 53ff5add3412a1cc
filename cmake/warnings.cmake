# tilewise_warnings(TARGET): the warnings that our code is held to.
function(tilewise_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 reports overlapping copies inside std::string's operator+ that cannot happen (its bug
    # 105329, mended in 13).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
endfunction()
