# The libraries that others link, libheed.so, libheed.a and libheed_text.so, and what is installed with
# them: include/heed, a CMake package and pkg-config files. They are made of the objects of the layers,
# which are compiled once.
#
#   heed::heed         the shared library
#   heed::heed_static  the static library; its users link fmt, SentencePiece, utf8proc, toml++ and Highway
#   heed::text         tokenizers and chat templates alone, a part of heed::heed: a program links one
#                      of the two
include(CMakePackageConfigHelpers)

set(heed_objects)
foreach(layer base distribute hub jinja tensor gpu kernels ops nn io text detect constrain model quantize checkpoint data
              metrics document generate tasks chat train inspect engine serve capi capi_text)
  list(APPEND heed_objects $<TARGET_OBJECTS:heed_${layer}>)
  if(TARGET heed_${layer}_texts)
    list(APPEND heed_objects $<TARGET_OBJECTS:heed_${layer}_texts>)
  endif()
endforeach()

# heed_library(<target> <name> <SHARED or STATIC> <objects or sources>)
function(heed_library target name kind)
  add_library(${target} ${kind} ${ARGN})
  add_library(heed::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(
    ${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:heed_options> fmt::fmt Threads::Threads
                                          PkgConfig::SENTENCEPIECE PkgConfig::UTF8PROC
                                          ${CMAKE_DL_LIBS})
endfunction()

# heed_shared_library(<target> <exported name> <soversion>)
function(heed_shared_library target name soversion)
  add_library(heed::${name} ALIAS ${target})
  set(map ${PROJECT_SOURCE_DIR}/cmake/heed.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${map})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINK_DEPENDS ${map}
                                             VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
endfunction()

heed_library(heed_shared heed SHARED ${heed_objects})
target_link_libraries(heed_shared PRIVATE PkgConfig::HWY PkgConfig::TOMLPLUSPLUS)
# The numbers move when the C API breaks programs that were built before (src/capi/abi.txt and
# abi_text.txt).
heed_shared_library(heed_shared heed 0)
heed_library(heed_static heed STATIC ${heed_objects})
target_link_libraries(heed_static PRIVATE PkgConfig::HWY PkgConfig::TOMLPLUSPLUS)

# All of the layers that face callers. Of those below, the linker takes the files, and of these the
# functions, that are needed.
heed_library(heed_text_shared heed_text SHARED $<TARGET_OBJECTS:heed_text> $<TARGET_OBJECTS:heed_chat>
             $<TARGET_OBJECTS:heed_capi_text>)
target_link_libraries(heed_text_shared PRIVATE heed_jinja heed_io heed_constrain)
target_link_options(heed_text_shared PRIVATE LINKER:--gc-sections)
heed_shared_library(heed_text_shared text 0)

if(PROJECT_IS_TOP_LEVEL)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
  install(TARGETS heed_shared EXPORT heedTargets)
  install(TARGETS heed_text_shared EXPORT heedTextTargets)
  install(TARGETS heed_static EXPORT heedStaticTargets)
  install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${package})
  install(EXPORT heedTextTargets NAMESPACE heed:: DESTINATION ${package})
  install(EXPORT heedStaticTargets NAMESPACE heed:: DESTINATION ${package})
  install(DIRECTORY include/heed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  configure_package_config_file(cmake/heedConfig.cmake.in heedConfig.cmake
                                INSTALL_DESTINATION ${package})
  # Before 1.0 a minor version may change the interface of C++, which this package is found for; the
  # SOVERSION stands for the binary interface of C alone.
  write_basic_package_version_file(heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  file(RELATIVE_PATH heed_prefix_of_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
       ${CMAKE_INSTALL_PREFIX})
  configure_file(cmake/heed.pc.in heed.pc @ONLY)
  configure_file(cmake/heed-text.pc.in heed-text.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heedConfig.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/heedConfigVersion.cmake DESTINATION ${package})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heed.pc ${CMAKE_CURRENT_BINARY_DIR}/heed-text.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
