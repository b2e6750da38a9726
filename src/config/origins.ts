import type { Config } from './schema.ts'

/** Where the values of a configuration were written. */
export type ConfigOrigins = {
  /** The configuration file; undefined if there is none. */
  readonly file: string | undefined
}

const origins = new WeakMap<Config, ConfigOrigins>()

export const setOrigins = (config: Config, value: ConfigOrigins): void => void origins.set(config, value)

export const originsOf = (config: Config): ConfigOrigins => origins.get(config) ?? { file: undefined }
