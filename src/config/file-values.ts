import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from './schema.ts'

/** A text of the configuration that is taken from a file, such as `upstreams[0].api_key`. */
export type FileValue = {
  readonly field: string
  /** Reads the file as it is now. Throws an error that names the field and the file, and never what is in it. */
  read(): string
}

const taken = new WeakMap<Config, readonly FileValue[]>()

export const noteFileValues = (config: Config, values: readonly FileValue[]): void => void taken.set(config, values)

/** The texts of this configuration that may change while the service runs. */
export const fileValuesOf = (config: Config): readonly FileValue[] => taken.get(config) ?? []

/** The text of a secret's file, without the newline at its end that editors add. */
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

/** A relative path is meant from the folder of the configuration. */
export const pathIn = (configFile: string, path: string): string => resolve(dirname(configFile), path.trim())
