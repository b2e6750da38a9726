type Schema = Readonly<Record<string, unknown>>

/** A tool's schema. Code generators add `$schema`, which says nothing about the tool and which some upstreams refuse. */
export function parametersOf(schema: Schema | null | undefined): Schema {
  if (!schema) return { type: 'object', properties: {} }
  const parameters = { ...schema }
  delete parameters['$schema']
  return parameters
}
