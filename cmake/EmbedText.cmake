# heed_embed_text(<target> <namespace> <file>...)
# Compiles text files into a target: page/view.js becomes `extern const std::string_view view_js` of
# the namespace. The files stay what they are, to be read and edited; a change rebuilds the target.
# The commands that make sources of them belong to a target of their own: those that use <target> are
# compiled beside it (CMAKE_OPTIMIZE_DEPENDENCIES).
function(heed_embed_text target namespace)
  if(NOT TARGET ${target}_texts)
    add_library(${target}_texts OBJECT)
    target_link_libraries(${target}_texts PRIVATE heed_options)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_texts>)
  endif()
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} variable)
    get_filename_component(input ${file} ABSOLUTE)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}/${variable}.cc)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DVARIABLE=${variable}
              -DNAMESPACE=${namespace} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      DEPENDS ${input} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      COMMENT "Embedding ${file}")
    target_sources(${target}_texts PRIVATE ${output})
  endforeach()
endfunction()

# heed_embed_bytes(<target> <namespace> <file>)
# Likewise a file of any bytes: languages.bin becomes `languages_bin`.
function(heed_embed_bytes target namespace file)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} variable)
  get_filename_component(input ${file} ABSOLUTE)
  set(symbol heed_${target}_${variable})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}/${variable}.cc)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include <string_view>

asm(".section .rodata\n.balign 64\n@symbol@:\n.incbin \"@input@\"\n@symbol@_end:\n.previous\n");
extern "C" const char @symbol@[], @symbol@_end[];

namespace @namespace@ {
extern const std::string_view @variable@;
const std::string_view @variable@(@symbol@, static_cast<size_t>(@symbol@_end - @symbol@));
}
]])
  set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS ${input} SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()

# The same file is the script that the command above runs.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED VARIABLE)
  file(READ "${INPUT}" text)
  string(FIND "${text}" ")heed_text\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${INPUT} holds the delimiter of its own embedding, )heed_text\"")
  endif()
  file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace ${NAMESPACE} {\n"
                         "extern const std::string_view ${VARIABLE};\n"
                         "const std::string_view ${VARIABLE} = R\"heed_text(${text})heed_text\";\n"
                         "}\n")
endif()
