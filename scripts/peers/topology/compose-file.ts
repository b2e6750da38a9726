import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export const composeFolder = fileURLToPath(new URL('../../../deploy/compose/', import.meta.url))

export type ComposeService = {
  readonly image: string
  readonly profiles: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly networks?: readonly string[]
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly deploy?: { readonly resources: { readonly limits: Readonly<Record<string, string | number>> } }
}

type ComposeFile = {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, object>>
  readonly networks: Readonly<Record<string, object>>
}

export const composeText = (): string => readFileSync(join(composeFolder, 'compose.yaml'), 'utf8')

/** The file with the values of these variables, or as it is written. */
export function readCompose(variables?: Readonly<Record<string, string>>): ComposeFile {
  const written = parse(composeText(), { merge: true })
  return variables === undefined ? written : filled(written, variables)
}

function filled<T>(value: T, variables: Readonly<Record<string, string>>): T
function filled(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(reference, (_all, name: string) => variables[name] ?? '').replaceAll('$$', () => '$')
  if (Array.isArray(value)) return value.map((item) => filled(item, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, variables)]))
}

/** `${NAME}` and `${NAME:?message}`. */
export const reference = /\$\{(\w+)(?::\?[^}]*)?\}/g

/** The variables of an `.env` file. */
export const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

/** The single files that a service mounts: their text, by their name in the container. */
export function mountedFiles({ volumes = [] }: ComposeService): Record<string, string> {
  const mounts = volumes.map((mount) => mount.split(':')).filter(([from = '']) => /^\..*\.\w+$/.test(from))
  return Object.fromEntries(
    mounts.map(([from = '', to = '']) => [basename(to), readFileSync(join(composeFolder, from), 'utf8')]),
  )
}
