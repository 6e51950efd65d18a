# The disk image for macOS, through CPack: one application that holds window, node, trainer and all libraries. What signs
# it (POTLUCK_SIGNING_IDENTITY, a name in the keychain) is for who publishes it; `-` signs for this computer only.
set(CPACK_GENERATOR DragNDrop)
set(CPACK_DMG_VOLUME_NAME "Potluck ${PROJECT_VERSION}")
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(POTLUCK_SIGNING_IDENTITY - CACHE STRING "Who signs the application; - for nobody")

install(CODE "
  execute_process(COMMAND codesign --force --deep --options runtime --sign \"${POTLUCK_SIGNING_IDENTITY}\"
    --entitlements \"${CMAKE_SOURCE_DIR}/installer/macos/entitlements.plist\"
    \"\${CMAKE_INSTALL_PREFIX}/potluck.app\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT sign)
