type Schema = Readonly<Record<string, unknown>>

/** The JSON Schema of a tool without `$schema`, which code generators add and some upstreams reject. */
export function parametersOf(schema: Schema | null | undefined): Schema {
  if (!schema) return { type: 'object', properties: {} }
  const parameters = { ...schema }
  delete parameters['$schema']
  return parameters
}
