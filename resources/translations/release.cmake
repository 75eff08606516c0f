# cmake -DTS=FILE.ts -DQM=FILE.qm -DLRELEASE=PROGRAM -P release.cmake
# Takes away the contexts of a .ts file, so that a text has one translation wherever it is said, and makes the .qm of it.
file(READ ${TS} text)
string(REGEX REPLACE "</context>[ \n]*<context>[ \n]*<name>[^<]*</name>" "" text "${text}")
string(REGEX REPLACE "<context>[ \n]*<name>[^<]*</name>" "<context><name></name>" text "${text}")
string(REPLACE ".qm" ".ts" merged ${QM})
file(WRITE ${merged} "${text}")
execute_process(COMMAND ${LRELEASE} -silent ${merged} -qm ${QM} RESULT_VARIABLE status OUTPUT_VARIABLE words ERROR_VARIABLE words)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${LRELEASE} of ${TS} failed:\n${words}")
endif()
