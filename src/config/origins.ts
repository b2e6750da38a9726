import type { Config } from './schema.ts'

/** Where the values of a configuration were written. */
export type ConfigOrigins = {
  /** The configuration file; undefined if there is none. */
  readonly file: string | undefined
  /** The content of the file, or the object that was given instead. Contains secrets. */
  readonly written: unknown
  /** The variables that replaced a value, by its path, such as `server.port`. */
  readonly variables: ReadonlyMap<string, string>
  /** Why variables were ignored. */
  readonly warnings: readonly string[]
}

const nothing: ConfigOrigins = { file: undefined, written: {}, variables: new Map(), warnings: [] }
const origins = new WeakMap<Config, ConfigOrigins>()

export const setOrigins = (config: Config, value: ConfigOrigins): void => void origins.set(config, value)

export const originsOf = (config: Config): ConfigOrigins => origins.get(config) ?? nothing
