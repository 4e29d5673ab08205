# The library that others link, libheed.so and libheed.a, and what is installed with it: include/heed,
# a CMake package and a pkg-config file. Both libraries are made of the objects of the layers, which
# are compiled once.
#
#   heed::heed         the shared library
#   heed::heed_static  the static library; its users link fmt, SentencePiece, utf8proc, toml++ and Highway
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(heed_objects)
foreach(layer base hub jinja tensor kernels ops nn io text model quantize checkpoint data metrics
              generate chat train inspect engine capi)
  list(APPEND heed_objects $<TARGET_OBJECTS:heed_${layer}>)
endforeach()

# heed_library(<target> <SHARED or STATIC>)
function(heed_library target kind)
  add_library(${target} ${kind} ${heed_objects})
  add_library(heed::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME heed LINKER_LANGUAGE CXX)
  target_include_directories(
    ${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:heed_options> fmt::fmt Threads::Threads
                                          PkgConfig::HWY PkgConfig::SENTENCEPIECE
                                          PkgConfig::UTF8PROC PkgConfig::TOMLPLUSPLUS ${CMAKE_DL_LIBS})
endfunction()

heed_library(heed_shared SHARED)
# SOVERSION moves when the C API breaks programs that were built before (src/capi/abi.txt).
add_library(heed::heed ALIAS heed_shared)
set(heed_map ${CMAKE_CURRENT_LIST_DIR}/heed.map)
target_link_options(heed_shared PRIVATE LINKER:--version-script=${heed_map})
set_target_properties(
  heed_shared PROPERTIES EXPORT_NAME heed LINK_DEPENDS ${heed_map} VERSION ${PROJECT_VERSION}
                         SOVERSION 0)
heed_library(heed_static STATIC)

if(PROJECT_IS_TOP_LEVEL)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
  install(TARGETS heed_shared EXPORT heedTargets)
  install(TARGETS heed_static EXPORT heedStaticTargets)
  install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${package})
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
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heedConfig.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/heedConfigVersion.cmake DESTINATION ${package})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
