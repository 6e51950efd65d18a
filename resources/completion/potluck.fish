# fish completion for potluck
complete -c potluck -l data-dir -r -d 'Folder that holds identity, runs and state'
complete -c potluck -l node -r -d 'The program potluck-node'
complete -c potluck -f -l minimized -d 'Start in the tray, or as a minimised window'
complete -c potluck -f -l help -d 'Show the options and end'
complete -c potluck -f -l version -d 'Show the version and end'
