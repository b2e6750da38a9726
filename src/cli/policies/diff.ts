import { policyFields, type PolicyContentBody } from '../../app/client/policies.ts'

export type FieldDifference = { readonly field: string; readonly before: unknown; readonly after: unknown }

const fields = Object.values(policyFields).map(({ name }) => name)

/** The fields that differ. Sets are compared without regard to order. */
export const contentDifferences = (before: PolicyContentBody, after: PolicyContentBody): FieldDifference[] =>
  fields
    .map((field) => ({ field, before: comparable(before[field]), after: comparable(after[field]) }))
    .filter((each) => JSON.stringify(each.before) !== JSON.stringify(each.after))

const comparable = (value: PolicyContentBody[keyof PolicyContentBody]): unknown =>
  Array.isArray(value) ? value.toSorted() : value

/** In the format of `diff`: the old value, then the new one; multi-line texts keep their lines. */
export const policyDiffLines = ({ field, before, after }: FieldDifference): string[] => [
  ...signedLine('-', field, before),
  ...signedLine('+', field, after),
]

export const contentLines = (content: PolicyContentBody): string[] =>
  fields.flatMap((field) => fieldLines(field, content[field]))

const signedLine = (sign: string, field: string, value: unknown): string[] =>
  fieldLines(field, value).map((line) => `${sign} ${line}`)

function fieldLines(field: string, value: unknown): string[] {
  const [first = '', ...rest] = formatted(value).trimEnd().split('\n')
  return [`${field}: ${first}`, ...rest.map((line) => `  ${line}`)]
}

function formatted(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.join(', ')
  return value === null || value === '' ? '(none)' : String(value)
}
