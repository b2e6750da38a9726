import fc from 'fast-check'
import type { JsonSchema } from '../../src/http/validation-messages.ts'

/** Mostly values that match the schema, or nearly do; sometimes arbitrary values. */
export function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: meant(schema) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) })
}

function meant(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesOf))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'string':
      return texts(schema)
    case 'integer':
    case 'number':
      return numbers(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 4 })
    case 'object':
      return objects(schema)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

/** Short texts of any script, one of the maximum length, and one that is too long. */
function texts({ minLength = 0, maxLength = 40 }: JsonSchema): fc.Arbitrary<string> {
  const edges = [minLength, maxLength, maxLength + 1].map((length) => 'x'.repeat(length))
  return fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 40) }) },
    { weight: 1, arbitrary: fc.constantFrom(...edges) },
    { weight: 1, arbitrary: fc.constantFrom('cel:true', 'cel:text ==', "'; drop table policy; --", '%00', '../..') },
  )
}

function numbers({ minimum = -10, maximum = 10 }: JsonSchema): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: minimum, max: Math.min(maximum, minimum + 5) }) },
    fc.constantFrom(minimum - 1, maximum, maximum + 1, minimum + 0.5),
  )
}

function objects({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<object> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valuesOf(each)]))
  const wellFormed = fc.record(fields, { requiredKeys: [...required] })
  const strange = fc.record({ ...fields, typo: fc.jsonValue() }, { requiredKeys: [] })
  return fc.oneof({ weight: 8, arbitrary: wellFormed }, { weight: 1, arbitrary: strange })
}
