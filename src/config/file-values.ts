import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from './schema.ts'

/** A value of the configuration that comes from a file, such as `upstreams[0].api_key`. */
export type FileValue = {
  readonly field: string
  /** Reads the current text of the file. An error names the field and the file, never the text. */
  read(): string
}

const fileValues = new WeakMap<Config, readonly FileValue[]>()

export const setFileValues = (config: Config, values: readonly FileValue[]): void => void fileValues.set(config, values)

/** The values of this configuration that may change while the server runs. */
export const fileValuesOf = (config: Config): readonly FileValue[] => fileValues.get(config) ?? []

/** The text of a file without the newline at its end, which editors add. */
export function readSecretText(path: string, field: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    throw new Error(`${field}: the file ${path} cannot be read (${reason})`, { cause })
  }
  if (text === '') throw new Error(`${field}: the file ${path} is empty`)
  return text
}

/** A relative path starts at the folder of the configuration file. */
export const pathIn = (configFile: string, path: string): string => resolve(dirname(configFile), path.trim())
