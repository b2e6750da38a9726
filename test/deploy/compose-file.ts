import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const composeFolder = 'deploy/compose'

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

export type ComposeFile = {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, object>>
  readonly networks: Readonly<Record<string, object>>
}

export const composeText = (): string => readFileSync(join(composeFolder, 'compose.yaml'), 'utf8')

/** The file with the values of these variables, or as it is written. */
export function readCompose(variables?: Readonly<Record<string, string>>): ComposeFile {
  const text = composeText()
  const filled = variables === undefined ? text : text.replaceAll(reference, (_all, name) => variables[name] ?? '')
  return parse(filled, { merge: true })
}

/** `${NAME}` and `${NAME:?message}`. */
export const reference = /\$\{(\w+)(?::\?[^}]*)?\}/g

/** The variables of an `.env` file. */
export const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
