# The layers as another build has made them: HEED_BUILD_TREE is its directory. What links a layer here
# links the archives of that build, and nothing of src/heed/ is compiled.
foreach(layer base distribute hub jinja tensor gpu kernels ops nn io text detect constrain model quantize checkpoint data document
              generate tasks chat engine metrics train inspect serve)
  set(archive ${HEED_BUILD_TREE}/libheed_${layer}.a)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "${archive} does not exist: build heed in HEED_BUILD_TREE first")
  endif()
  list(APPEND archives ${archive})
endforeach()

add_library(heed_serve INTERFACE)
target_include_directories(heed_serve INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(
  heed_serve INTERFACE -Wl,--start-group ${archives} -Wl,--end-group fmt::fmt Threads::Threads
                       PkgConfig::HWY PkgConfig::SENTENCEPIECE PkgConfig::UTF8PROC PkgConfig::TOMLPLUSPLUS
                       ${CMAKE_DL_LIBS})
