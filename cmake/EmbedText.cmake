# heed_embed_text(<target> <namespace> <file>...)
# Compiles text files into a target: page/view.js becomes `extern const std::string_view view_js` of
# the namespace. The files stay what they are, to be read and edited; a change rebuilds the target.
function(heed_embed_text target namespace)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    heed_embed_bundle(${target} ${namespace} ${name} ${file})
  endforeach()
endfunction()

# heed_embed_bundle(<target> <namespace> <name> [SCOPED] [MINIFY] <file>...)
# Likewise several files as one text: `name` view.js becomes `view_js`. SCOPED: scripts, in a function
# of their own. MINIFY: by esbuild, if it is there (HEED_ESBUILD).
# The commands that make sources of them belong to a target of their own: those that use <target> are
# compiled beside it (CMAKE_OPTIMIZE_DEPENDENCIES).
function(heed_embed_bundle target namespace name)
  cmake_parse_arguments(PARSE_ARGV 3 arg "SCOPED;MINIFY" "" "")
  if(NOT TARGET ${target}_texts)
    add_library(${target}_texts OBJECT)
    target_link_libraries(${target}_texts PRIVATE heed_options)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_texts>)
  endif()
  set(inputs)
  foreach(file ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(input ${file} ABSOLUTE)
    list(APPEND inputs ${input})
  endforeach()
  set(esbuild)
  if(arg_MINIFY AND HEED_ESBUILD)
    set(esbuild ${HEED_ESBUILD})
  endif()
  string(MAKE_C_IDENTIFIER ${name} variable)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}/${variable}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DOUTPUT=${output} -DVARIABLE=${variable}
            -DNAMESPACE=${namespace} -DSCOPED=${arg_SCOPED} -DESBUILD=${esbuild}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${inputs} ${CMAKE_CURRENT_FUNCTION_LIST_FILE} ${esbuild}
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target}_texts PRIVATE ${output})
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
  set(text)
  foreach(input ${INPUTS})
    file(READ "${input}" part)
    string(APPEND text "${part}")
  endforeach()
  if(SCOPED)
    set(text "\"use strict\";\n(() => {\n${text}})();\n")
  endif()
  if(ESBUILD)
    string(REGEX MATCH "[^_]+$" loader ${VARIABLE})
    file(WRITE "${OUTPUT}.txt" "${text}")
    execute_process(COMMAND ${ESBUILD} --minify --charset=utf8 --loader=${loader}
                    INPUT_FILE "${OUTPUT}.txt" OUTPUT_VARIABLE text RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${ESBUILD} cannot minify ${INPUTS}")
    endif()
  endif()
  string(FIND "${text}" ")heed_text\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${INPUTS} holds the delimiter of its own embedding, )heed_text\"")
  endif()
  file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace ${NAMESPACE} {\n"
                         "extern const std::string_view ${VARIABLE};\n"
                         "const std::string_view ${VARIABLE} = R\"heed_text(${text})heed_text\";\n"
                         "}\n")
endif()
