import Type from 'typebox'

/**
 * One schema is the file's grammar, the environment's grammar and the manual: `docs/configuration.md` is generated
 * from it. `env` names the variable that overrides a key.
 */
export const section = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description, default: {} })

/** As a section, but it exists only where it is written. */
export const entry = <P extends Type.TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })
