# The installer for Windows, through CPack and NSIS: `cmake --build build/release --target potluck_packages`, then
# `cpack --config build/release/CPackConfig.cmake`. For everybody's folder of programs, with a menu entry and the handler
# of potluck: links; the uninstaller asks before it removes an identity, and keeps it unless told otherwise. The data folder
# is looked up in the environment: NSIS's own $LOCALAPPDATA means everybody's while it removes what is everybody's.
set(CPACK_GENERATOR NSIS)
set(CPACK_PACKAGE_INSTALL_DIRECTORY Potluck)
set(CPACK_NSIS_PACKAGE_NAME Potluck)
set(CPACK_NSIS_DISPLAY_NAME Potluck)
set(CPACK_NSIS_MUI_ICON "${CMAKE_BINARY_DIR}/icons/potluck.ico")
set(CPACK_NSIS_MUI_UNIICON "${CMAKE_BINARY_DIR}/icons/potluck.ico")
set(CPACK_NSIS_INSTALLED_ICON_NAME "bin\\\\potluck.exe")
set(CPACK_NSIS_ENABLE_UNINSTALL_BEFORE_INSTALL ON)
set(CPACK_NSIS_MUI_FINISHPAGE_RUN potluck.exe)
set(CPACK_PACKAGE_EXECUTABLES potluck Potluck)
set(CPACK_NSIS_EXTRA_INSTALL_COMMANDS [[
  WriteRegStr SHCTX 'Software\\Classes\\potluck' '' 'URL:Potluck invite'
  WriteRegStr SHCTX 'Software\\Classes\\potluck' 'URL Protocol' ''
  WriteRegStr SHCTX 'Software\\Classes\\potluck\\shell\\open\\command' '' '\"$INSTDIR\\bin\\potluck.exe\" \"%1\"'
]])
set(CPACK_NSIS_EXTRA_UNINSTALL_COMMANDS [[
  DeleteRegKey SHCTX 'Software\\Classes\\potluck'
  MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 'Remove your identity and the data of your runs, too? Without the key or its 24 words nobody can train under that identity again.' /SD IDNO IDNO keep_identity
  ReadEnvStr $0 LOCALAPPDATA
  StrCmp $0 '' keep_identity
  RMDir /r '$0\\Potluck'
  keep_identity:
]])
