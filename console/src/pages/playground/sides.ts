import { sideName, sidesOf, type Side } from './comparison.ts'
import type { useRuleChoices } from './queries.ts'
import type { PlaygroundSearch } from './search.ts'

export type NamedSide = Side & { readonly name: string }

type Rules = ReturnType<typeof useRuleChoices>

/** The sides of the comparison with the names of their policies. */
export function namedSides(search: PlaygroundSearch, model: string, rules: Rules): readonly [NamedSide, NamedSide?] {
  const [first, second] = sidesOf(search, model)
  const all = second === undefined ? [first] : [first, second]
  const nameOf = (policyId: string): string => rules?.find(({ id }) => id === policyId)?.name ?? policyId
  const named = (side: Side): NamedSide => ({ ...side, name: sideName(side, all, nameOf) })
  if (second === undefined) return [named(first)]
  const [one, other] = [named(first), named(second)]
  // A model is compared with itself to see how much its responses differ.
  return [one, one.name === other.name ? { ...other, name: `${other.name} (2)` } : other]
}
