# bash completion for potluck
_potluck() {
    case "${COMP_WORDS[COMP_CWORD]}" in
        -*) COMPREPLY=($(compgen -W "--data-dir --node --minimized --help --version" -- "${COMP_WORDS[COMP_CWORD]}")) ;;
    esac
}
complete -o bashdefault -o default -F _potluck potluck
