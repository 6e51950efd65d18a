#compdef potluck
_arguments \
    '--data-dir[folder that holds identity, runs and state]:folder:_files -/' \
    '--node[the program potluck-node]:program:_files' \
    '--minimized[start in the tray, or as a minimised window]' \
    '--help[show the options and end]' \
    '--version[show the version and end]' \
    ':invite:'
