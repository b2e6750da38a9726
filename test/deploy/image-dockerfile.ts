import { readFileSync } from 'node:fs'

export type Instruction = {
  readonly keyword: string
  /** `--from=build` is `{ from: 'build' }`. */
  readonly flags: Readonly<Record<string, string>>
  /** What follows the flags. */
  readonly text: string
}

export type Stage = { readonly name: string; readonly base: string; readonly instructions: readonly Instruction[] }

export type Dockerfile = {
  /** The instructions before the first stage. */
  readonly args: readonly Instruction[]
  readonly stages: readonly Stage[]
}

export const readDockerfile = (path: string): Dockerfile => parseDockerfile(readFileSync(path, 'utf8'))

/** Reads the part of the format that the project uses: no here-documents and no parser directives. */
export function parseDockerfile(source: string): Dockerfile {
  const args: Instruction[] = []
  const stages: { name: string; base: string; instructions: Instruction[] }[] = []
  for (const line of logicalLines(source)) {
    const instruction = parseInstruction(line)
    const [, base = '', name = ''] = /^(\S+)(?: AS (\S+))?$/i.exec(instruction.text) ?? []
    if (instruction.keyword === 'FROM') stages.push({ name, base, instructions: [] })
    else (stages.at(-1)?.instructions ?? args).push(instruction)
  }
  return { args, stages }
}

const logicalLines = (source: string): string[] =>
  source
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')

function parseInstruction(line: string): Instruction {
  const [, keyword = '', flags = '', text = ''] = /^\s*(\w+)\s+((?:--\S+\s+)*)(.*?)\s*$/.exec(line) ?? []
  const pairs = [...flags.matchAll(/--([\w-]+)(?:=(\S*))?/g)].map(([, name = '', value = '']) => [name, value])
  return { keyword: keyword.toUpperCase(), flags: Object.fromEntries(pairs), text }
}

export const instructionsOf = (stage: Stage | undefined, keyword: string): Instruction[] =>
  stage?.instructions.filter((each) => each.keyword === keyword) ?? []

/** The words of the exec form; undefined for the shell form. */
export function execForm(text: string): string[] | undefined {
  const json = text.replace(/^CMD\s+/, '')
  return json.startsWith('[') ? (JSON.parse(json) as string[]) : undefined
}

/** Names and values of `ENV`, `LABEL` and `ARG`. An argument without a default has an empty one. */
export const pairsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([\w.]+)(?:=("[^"]*"|\S*))?/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('"', ''),
    ]),
  )

export const argumentsOf = (instructions: readonly Instruction[]): Record<string, string> =>
  Object.assign({}, ...instructions.filter(({ keyword }) => keyword === 'ARG').map(({ text }) => pairsIn(text)))

/** Inserts the values of `${NAME}`. */
export const expand = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
