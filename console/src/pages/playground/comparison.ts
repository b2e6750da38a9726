import { words } from '../../words/en.ts'
import type { EvaluationRequest } from './queries.ts'
import type { PlaygroundSearch } from './search.ts'

const kinds = ['model', 'draft', 'without'] as const

/** What one side differs by. In the address: `model:NAME`, `draft:POLICY_ID` or `without:POLICY_ID`. */
export type Variation = { readonly kind: (typeof kinds)[number]; readonly id: string }

/** One of the requests that are shown beside each other. Without rules: what is in force. */
export type Side = { readonly model: string; readonly rules: Variation | undefined }

export function readVariation(text: string | undefined): Variation | undefined {
  const kind = kinds.find((each) => text?.startsWith(`${each}:`))
  const id = text?.slice((kind?.length ?? 0) + 1) ?? ''
  return kind === undefined || id === '' ? undefined : { kind, id }
}

export const variationText = ({ kind, id }: Variation): string => `${kind}:${id}`

/** The first side is the form as it stands, or with other rules. */
export function sidesOf({ compare, against }: PlaygroundSearch, model: string): readonly [Side, Side?] {
  const other = readVariation(compare)
  if (other === undefined) return [{ model, rules: undefined }]
  if (other.kind === 'model')
    return [
      { model, rules: undefined },
      { model: other.id, rules: undefined },
    ]
  const first = readVariation(against)
  return [
    { model, rules: first?.kind === 'model' ? undefined : first },
    { model, rules: other },
  ]
}

/** What the side is called above its column. */
export function sideName({ model, rules }: Side, sides: readonly Side[], nameOf: (policyId: string) => string): string {
  if (rules !== undefined) return words.playground.rulesOf(rules.kind, nameOf(rules.id))
  const comparesModels = sides.length > 1 && sides.every((side) => side.rules === undefined)
  return comparesModels ? model : words.playground.inForce
}

/** The policies that the checks of a side evaluate. */
export const policiesOf = (rules: Variation | undefined): NonNullable<EvaluationRequest['policies']> =>
  rules === undefined
    ? 'in_force'
    : ['in_force', { policy_id: rules.id, use: rules.kind === 'without' ? 'none' : 'draft' }]
