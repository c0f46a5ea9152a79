import { type Command, parse, UsageError } from './usage.js'

/** What a shell is to propose: options of a command. */
function optionsOf({ options }: Command): readonly string[] {
  return [...Object.keys(options), 'help'].map((name) => `--${name}`).sort()
}

const SHELLS: Readonly<Record<string, (commands: readonly (readonly [name: string, options: readonly string[]])[]) => string>> = {
  bash: (commands) => `_ptlite() {
  local current=\${COMP_WORDS[COMP_CWORD]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(([name]) => name).join(' ')}'
  else
    case \${COMP_WORDS[1]} in
${commands.map(([name, options]) => `      ${name}) words='${options.join(' ')}' ;;`).join('\n')}
    esac
  fi
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) [ "$COMP_CWORD" -eq 1 ] && COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -o default -F _ptlite ptlite
`,
  zsh: (commands) => `#compdef ptlite
_ptlite() {
  if (( CURRENT == 2 )); then
    compadd -- ${commands.map(([name]) => name).join(' ')}
    return
  fi
  if [[ $PREFIX == -* ]]; then
    case $words[2] in
${commands.map(([name, options]) => `      ${name}) compadd -- ${options.join(' ')} ;;`).join('\n')}
    esac
    return
  fi
  _files
}
compdef _ptlite ptlite
`,
  fish: (commands) =>
    [
      `complete -c ptlite -n __fish_use_subcommand -f -a '${commands.map(([name]) => name).join(' ')}'`,
      ...commands.flatMap(([name, options]) =>
        options.map((option) => `complete -c ptlite -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
      ),
      '',
    ].join('\n'),
}

/** The command that prints what a shell completes `ptlite` by; `commands` are all the others. */
export function completion(commands: () => Readonly<Record<string, Command>>): Command {
  return {
    synopsis: 'completion bash|zsh|fish',
    options: {},
    about: `Prints what completes commands and options in a shell.

  bash   eval "$(ptlite completion bash)"         in ~/.bashrc
  zsh    eval "$(ptlite completion zsh)"          in ~/.zshrc, after compinit
  fish   ptlite completion fish | source          in ~/.config/fish/config.fish`,

    run(args) {
      const { positionals } = parse({ args, allowPositionals: true })
      const shell = positionals.length === 1 && Object.hasOwn(SHELLS, positionals[0]!) ? SHELLS[positionals[0]!] : undefined
      if (shell === undefined) throw new UsageError(`expected one of ${Object.keys(SHELLS).join(', ')}`)
      const all = Object.entries(commands()).map(([name, command]) => [name, optionsOf(command)] as const)
      console.log(shell(all).trimEnd())
    },
  }
}
