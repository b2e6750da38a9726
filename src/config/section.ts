import Type from 'typebox'

/**
 * One schema describes the file, the environment variables and the manual: `docs/configuration.md` is generated from it.
 * `env` names the variable that overrides a key.
 */
export const section = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description, default: {} })

/** Like a section, but without a default: it exists only if it is configured. */
export const entry = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })
