# cmake -DTESTS=<folder> -DFILES=<a.cpp|b.cpp> -DOUT=<file> -P join_tests.cmake: writes one source that includes tests,
# each in a namespace of its own. What they include is included first, outside; the lines that ask for it again then do
# nothing, because every header guards itself.
string(REPLACE "|" ";" FILES "${FILES}")
set(text "// Written by cmake/join_tests.cmake.\n")
foreach(file IN LISTS FILES)
  file(STRINGS "${TESTS}/${file}" lines REGEX "^#(include|if|ifdef|ifndef|elif|else|endif)")
  list(FILTER lines EXCLUDE REGEX "[.]moc\"")
  list(JOIN lines "\n" lines)
  string(APPEND text "${lines}\n")
endforeach()
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  string(APPEND text "namespace in_${name} {\n#include \"tests/${file}\"\n}\n")
endforeach()
file(WRITE "${OUT}" "${text}")
