# Writes the shipped rule files into a C++ source: -DOUT=… -DFILES=…
set(text "// Made from rules/*.rules by cmake/EmbedRules.cmake.\n#include \"tools/optimize.h\"\n\nnamespace retuple {\n\nstd::vector<ShippedFile> ShippedRules() {\n  return {\n")
list(SORT FILES)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} content)
  # A raw string literal may hold 64 KiB in some compilers; rule files are far smaller.
  string(APPEND text "      {\"${name}\", R\"~rules~(${content})~rules~\"},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace retuple\n")
file(WRITE ${OUT} "${text}")
