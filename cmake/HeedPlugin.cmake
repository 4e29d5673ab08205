# heed_plugin(<name> <libraries>...)
# heed-<name>.so from plugin.cc, a library that heed opens at run time (distribute/plugin.h).
function(heed_plugin name)
  add_library(heed-${name} MODULE plugin.cc)
  target_link_libraries(heed-${name} PRIVATE heed_options ${ARGN})
  target_include_directories(heed-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(heed-${name} PROPERTIES
                        PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS heed-${name} DESTINATION ${CMAKE_INSTALL_LIBDIR}/heed)
endfunction()
