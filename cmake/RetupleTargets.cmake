# One static library a folder: retuple_library(NAME [LINKS …] [PRIVATE_LINKS …] [SOURCES …]).
# Sources default to every .cc of the calling folder. What a library links is what it may include.

if(RETUPLE_SANITIZE)
  add_compile_options(-fsanitize=${RETUPLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RETUPLE_SANITIZE})
endif()
if(RETUPLE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(RETUPLE_CCACHE ccache)
if(RETUPLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RETUPLE_CCACHE})
endif()

function(retuple_library name)
  cmake_parse_arguments(A "" "" "LINKS;PRIVATE_LINKS;SOURCES" ${ARGN})
  if(NOT A_SOURCES)
    file(GLOB_RECURSE A_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  endif()
  add_library(retuple_${name} STATIC ${A_SOURCES})
  add_library(retuple::${name} ALIAS retuple_${name})
  set_target_properties(retuple_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(retuple_${name} PUBLIC cxx_std_20)
  target_compile_options(retuple_${name} PRIVATE -Wall -Wextra -Wno-unused-parameter
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false alarms of g++ 12
  target_include_directories(retuple_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/retuple>)
  target_link_libraries(retuple_${name} PUBLIC ${A_LINKS} PRIVATE ${A_PRIVATE_LINKS})
  set_property(GLOBAL APPEND PROPERTY RETUPLE_LIBRARIES retuple_${name})
endfunction()
