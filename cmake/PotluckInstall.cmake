# What `./dev package` installs: the programs, and beside them the parts of LibTorch that the trainer opens, so that the
# folder runs on a computer that has none.
include(GNUInstallDirs)

install(TARGETS potluck-node)
if(POTLUCK_TRAINING)
  set(torch_folder "${CMAKE_INSTALL_LIBDIR}/potluck")
  set_target_properties(potluck-trainer PROPERTIES INSTALL_RPATH "$ORIGIN/../${torch_folder}")
  install(TARGETS potluck-trainer)
  file(GLOB torch_libraries
    "${PotluckTorch_LIBRARY_DIR}/libtorch_cpu.*" "${PotluckTorch_LIBRARY_DIR}/libc10.*"
    "${PotluckTorch_LIBRARY_DIR}/libgomp*" "${PotluckTorch_LIBRARY_DIR}/libcudart*" "${PotluckTorch_LIBRARY_DIR}/libcupti*")
  install(PROGRAMS ${torch_libraries} DESTINATION "${torch_folder}")
endif()
if(POTLUCK_CUDA_FOUND)
  install(TARGETS potluck_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/potluck" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" "${CMAKE_SOURCE_DIR}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
