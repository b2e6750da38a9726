import { policyFields, type PolicyContent, type PolicyField } from '../../src/domain/policy/content.ts'

export type FieldSample = {
  readonly key: keyof PolicyContent
  /** The name in the API. */
  readonly name: string
  /** Valid values that differ from the default, each from the next. */
  readonly values: readonly unknown[]
}

/** Values for each field of a policy, derived from the table: a new field is covered without a change here. */
export const fieldSamples = (projectId: string): FieldSample[] =>
  Object.entries(policyFields).map(([key, field]) => ({
    key: key as keyof PolicyContent,
    name: field.name,
    values: valuesOf(field, projectId),
  }))

function valuesOf(field: PolicyField, projectId: string): readonly unknown[] {
  if (field.kind === 'choice') return [...field.choices.filter((choice) => choice !== field.initial), field.initial]
  if (field.kind === 'optional integer') return [field.minimum, field.maximum, null]
  if (field.kind === 'expression') return ['text.size() > 10', 'pii["email"] > 0']
  if (field.kind === 'flag') return [!field.initial, field.initial]
  return field.kind === 'set' ? [[projectId], []] : ['Never say "one"', 'Ünïcode\n😀']
}
