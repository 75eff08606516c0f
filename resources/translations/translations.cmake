# The window's words in other languages. Qt's linguist tools (package qt6-l10n-tools) make of each rankscope_LANGUAGE.ts a
# file that is built into the window; without them the window has English alone.
#
#   ninja update_translations    puts new source strings into the .ts files, and takes away those that are gone

set(RANKSCOPE_TRANSLATIONS_DIR ${PROJECT_SOURCE_DIR}/resources/translations)
file(GLOB RANKSCOPE_TS_FILES CONFIGURE_DEPENDS ${RANKSCOPE_TRANSLATIONS_DIR}/rankscope_*.ts)
find_program(RANKSCOPE_LRELEASE NAMES lrelease6 lrelease-qt6 lrelease HINTS /usr/lib/qt6/bin ${QT6_INSTALL_PREFIX}/lib/qt6/bin NO_DEFAULT_PATH)
find_program(RANKSCOPE_LUPDATE NAMES lupdate6 lupdate-qt6 lupdate HINTS /usr/lib/qt6/bin ${QT6_INSTALL_PREFIX}/lib/qt6/bin NO_DEFAULT_PATH)
mark_as_advanced(RANKSCOPE_LRELEASE RANKSCOPE_LUPDATE)

# rankscope_embed_translations(TARGET): as resources below :/translations.
function(rankscope_embed_translations target)
  set(RANKSCOPE_HAS_TRANSLATIONS 0)
  if(RANKSCOPE_LRELEASE AND RANKSCOPE_TS_FILES)
    set(RANKSCOPE_HAS_TRANSLATIONS 1)
    set(entries "")
    foreach(ts ${RANKSCOPE_TS_FILES})
      get_filename_component(name ${ts} NAME_WE)
      set(qm ${CMAKE_CURRENT_BINARY_DIR}/translations/${name}.qm)
      add_custom_command(OUTPUT ${qm}
        COMMAND ${CMAKE_COMMAND} -DTS=${ts} -DQM=${qm} -DLRELEASE=${RANKSCOPE_LRELEASE}
                -P ${RANKSCOPE_TRANSLATIONS_DIR}/release.cmake
        DEPENDS ${ts} ${RANKSCOPE_TRANSLATIONS_DIR}/release.cmake
        COMMENT "Translation ${name}" VERBATIM)
      set_property(SOURCE ${qm} PROPERTY SKIP_AUTOGEN ON)
      target_sources(${target} PRIVATE ${qm})
      list(APPEND made ${qm})
      string(APPEND entries "  <file alias=\"${name}.qm\">${qm}</file>\n")
    endforeach()
    set(qrc ${CMAKE_CURRENT_BINARY_DIR}/translations/translations.qrc)
    file(CONFIGURE OUTPUT ${qrc} CONTENT "<RCC>\n <qresource prefix=\"/translations\">\n@entries@ </qresource>\n</RCC>\n" @ONLY)
    set(cpp ${CMAKE_CURRENT_BINARY_DIR}/translations/qrc_translations.cpp)
    add_custom_command(OUTPUT ${cpp} COMMAND Qt6::rcc --name translations ${qrc} -o ${cpp} DEPENDS ${qrc} ${made} VERBATIM)
    set_source_files_properties(${cpp} PROPERTIES SKIP_AUTOGEN ON SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    target_sources(${target} PRIVATE ${cpp})
  else()
    message(STATUS "Translations: none, lrelease was not found (package qt6-l10n-tools)")
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/translations/app/views/common/translations.hpp
       CONTENT "#pragma once\n#define RANKSCOPE_HAS_TRANSLATIONS @RANKSCOPE_HAS_TRANSLATIONS@\n" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/translations)
endfunction()

# Other names under which sources call tr().
set(RANKSCOPE_TR_ALIASES "tr+=in_book,tr+=translated,tr+=in_class,tr+=in_table" CACHE INTERNAL "")
if(RANKSCOPE_LUPDATE AND NOT TARGET update_translations)
  add_custom_target(update_translations
    COMMAND ${RANKSCOPE_LUPDATE} app -I . -locations none -no-obsolete -silent -tr-function-alias ${RANKSCOPE_TR_ALIASES}
            -ts ${RANKSCOPE_TS_FILES}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
