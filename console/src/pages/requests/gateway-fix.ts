import type { GatewayConfig } from './gateway-fix-queries.ts'

/** An entry of the gateway configuration that denied a request. */
export type MatchedEntry = { readonly kind: 'term' | 'category'; readonly name: string }

type Matched = { readonly terms: readonly string[]; readonly categories: readonly string[] }

/** What the configuration matched in the request and still has. */
export const matchedEntries = ({ rules }: GatewayConfig, { terms, categories }: Matched): readonly MatchedEntry[] => [
  ...terms.filter((term) => rules.denylist.includes(term)).map((name) => ({ kind: 'term' as const, name })),
  ...rules.flagged_categories
    .filter((category) => categories.includes(category))
    .map((name) => ({ kind: 'category' as const, name })),
]

/** The configuration without these entries. */
export function withoutEntries(config: GatewayConfig, removed: readonly MatchedEntry[]): GatewayConfig {
  const isRemoved = (kind: MatchedEntry['kind'], name: string): boolean =>
    removed.some((entry) => entry.kind === kind && entry.name === name)
  const { rules } = config
  return {
    ...config,
    rules: {
      ...rules,
      denylist: rules.denylist.filter((term) => !isRemoved('term', term)),
      flagged_categories: rules.flagged_categories.filter((category) => !isRemoved('category', category)),
    },
  }
}
