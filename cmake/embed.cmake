# tilewise_embed(TARGET SYMBOL FILES...): adds a source to TARGET that defines
#   const tilewise::EmbeddedFile SYMBOL[];  const std::size_t SYMBOL_size;
# with the name (relative to the project's root) and the text of each file (src/io/embedded.h).
set(TILEWISE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_embedded.cmake)
function(tilewise_embed target symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D SYMBOL=${symbol} -D ROOT=${PROJECT_SOURCE_DIR}
            -D "FILES=${files}" -P ${TILEWISE_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${TILEWISE_EMBED_SCRIPT}
    VERBATIM)
  add_custom_target(${target}_${symbol} DEPENDS ${output})
  add_dependencies(${target} ${target}_${symbol})
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} TARGET_DIRECTORY ${target} PROPERTIES GENERATED TRUE)
endfunction()

# tilewise_embed_binary(TARGET SYMBOL FILE): adds a source to TARGET that defines
#   const unsigned char tilewise::SYMBOL[];  const std::size_t tilewise::SYMBOL_size;
set(TILEWISE_EMBED_BINARY_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_embedded_binary.cmake)
function(tilewise_embed_binary target symbol file)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D SYMBOL=${symbol} -D FILE=${file} -P
            ${TILEWISE_EMBED_BINARY_SCRIPT}
    DEPENDS ${file} ${TILEWISE_EMBED_BINARY_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
