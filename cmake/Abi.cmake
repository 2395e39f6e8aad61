# SR_ABI: seven hexadecimal digits of what the public headers declare, comments and blanks left out.
# python/declarations.py makes the same number.
file(GLOB SR_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/specroute/*.h)
list(SORT SR_HEADERS)
set(declared_ "")
foreach(header_ ${SR_HEADERS})
  file(READ ${header_} text_)
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" "" text_ "${text_}")
  string(REGEX REPLACE "[ \t\r\n]+" "" text_ "${text_}")
  string(APPEND declared_ "${text_}")
endforeach()
string(SHA256 SR_ABI "${declared_}")
string(SUBSTRING ${SR_ABI} 0 7 SR_ABI)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SR_HEADERS})
