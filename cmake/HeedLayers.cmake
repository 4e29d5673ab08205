# heed_layer(<name> [UNITY] DEPENDS <public targets> PRIVATE <private targets>)
# One static library a folder of src/heed: every .cc below it belongs to it. With UNITY its
# sources are compiled several at a time (heed_unity).
function(heed_layer name)
  cmake_parse_arguments(LAYER "UNITY" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/heed/${name}/*.cc)
  if(NOT sources)
    add_library(heed_${name} INTERFACE)
    return()
  endif()
  add_library(heed_${name} STATIC ${sources})
  target_include_directories(heed_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                 ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(heed_${name} PUBLIC ${LAYER_DEPENDS} PRIVATE heed_options ${LAYER_PRIVATE})
  heed_precompile(heed_${name} heed_std_headers)
  if(LAYER_UNITY)
    heed_unity(heed_${name})
  endif()
endfunction()

# Seconds that a test of a program may take.
set(HEED_TEST_TIMEOUT 300)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(HEED_TEST_TIMEOUT 3000)
endif()

# heed_layer_test(<name> <further targets>)
# One test program a layer, from every tests/<name>/*_test.cc, its cases registered with CTest.
function(heed_layer_test name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cc)
  if(sources)
    add_executable(${name}_test ${sources})
    target_link_libraries(${name}_test PRIVATE heed_${name} heed_options GTest::gtest_main ${ARGN})
    target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${name}_test
                               PRIVATE HEED_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    heed_precompile(${name}_test heed_test_headers)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT ${HEED_TEST_TIMEOUT})
  endif()
endfunction()
