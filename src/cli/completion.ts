import { readArguments, required } from './arguments.ts'
import { UsageError, type Command, type Commands } from './command.ts'

/** What can follow the name of a command. */
type Completion = {
  readonly name: string
  readonly summary: string
  readonly verbs: readonly string[]
  readonly options: readonly string[]
}

export const completion: Command = {
  summary: 'Print a completion script for a shell',
  usage: `gatehouse completion bash|zsh|fish

bash: add to ~/.bashrc: source <(gatehouse completion bash)
zsh:  add to ~/.zshrc, after compinit: source <(gatehouse completion zsh)
fish: gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish`,
  async run({ args, printData, commands }) {
    const { positionals } = readArguments(args, {}, 1)
    const shell = required(positionals[0], 'The shell')
    const write = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (!write) throw new UsageError(`There is no completion for ${shell}; choose bash, zsh or fish.`)
    printData(write(await completionsOf(commands)))
    return 0
  },
}

function completionsOf(commands: Commands): Promise<Completion[]> {
  return Promise.all(Object.entries(commands).map(async ([name, load]) => completionOf(name, await load())))
}

/** Options that every command has. */
const commonOptions = ['--help', '--config', '--data-dir']

/** Reads verbs and options from the usage, which is tested against what a command accepts. */
export function completionOf(name: string, { summary, usage }: Pick<Command, 'summary' | 'usage'>): Completion {
  const lines = usage.split('\n').filter((line) => line.startsWith(`gatehouse ${name} `))
  const verbs = lines.flatMap((line) => /^gatehouse \S+ ([a-z][a-z|-]*)(?= |$)/.exec(line)?.[1]?.split('|') ?? [])
  const options = [...usage.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option)
  return { name, summary, verbs: [...new Set(verbs)], options: [...new Set([...options, ...commonOptions])] }
}

const scripts: Readonly<Record<string, (all: readonly Completion[]) => string>> = { bash, zsh, fish }

function bash(all: readonly Completion[]): string {
  const cases = all.map(
    ({ name, verbs, options }) => `    ${name}) verbs='${verbs.join(' ')}' options='${options.join(' ')}' ;;`,
  )
  return `_gatehouse() {
  local word=\${COMP_WORDS[COMP_CWORD]} verbs='' options=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${all.map(({ name }) => name).join(' ')}' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
  fi
}
complete -o default -F _gatehouse gatehouse`
}

function zsh(all: readonly Completion[]): string {
  const described = all.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`)
  const cases = all.map(
    ({ name, verbs, options }) => `    ${name}) verbs=(${verbs.join(' ')}) options=(${options.join(' ')}) ;;`,
  )
  return `#compdef gatehouse
_gatehouse() {
  local -a commands verbs options
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    compadd -- $options
  elif (( CURRENT == 3 && $#verbs )); then
    compadd -- $verbs
  else
    _files
  fi
}
compdef _gatehouse gatehouse`
}

function fish(all: readonly Completion[]): string {
  const lines = all.flatMap(({ name, summary, verbs, options }) => {
    const inCommand = `complete -c gatehouse -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c gatehouse -f -n __fish_use_subcommand -a ${name} -d '${quoted(summary)}'`,
      ...(verbs.length === 0 ? [] : [`${inCommand} -f -a '${verbs.join(' ')}'`]),
      ...options.map((option) => `${inCommand} -l ${option.slice(2)}`),
    ]
  })
  return lines.join('\n')
}

const quoted = (text: string): string => text.replaceAll("'", `'\\''`)
