import type { GatewayConfiguration } from '../../gateway-config/configuration.ts'
import { categories, perCategory, type Category, type PerCategory } from '../../moderation/categories.ts'
import { countByKind, type PersonalDataKind } from '../../moderation/personal-data/kinds.ts'
import type { Scan } from '../../moderation/scan.ts'

/** All that was found in some texts. */
export type Findings = {
  readonly categories: readonly string[]
  readonly scores: PerCategory<number>
  readonly allowlistHits: readonly string[]
  readonly denylistHits: readonly string[]
  readonly personalData: Readonly<Partial<Record<PersonalDataKind, number>>>
}

export const nothingFound: Findings = {
  categories: [],
  scores: perCategory(() => 0),
  allowlistHits: [],
  denylistHits: [],
  personalData: {},
}

type Lists = Pick<GatewayConfiguration['rules'], 'allowlist' | 'denylist'>

/** What one screening found, by the lists that its terms come from. */
export function findingsOf({ classification, termHits, personalData }: Scan, lists: Lists): Findings {
  const { flagged, scores } = classification
  if (termHits.length + personalData.length === 0) return { ...nothingFound, categories: flagged, scores }
  const terms = termHits.map(({ term }) => term)
  return {
    categories: flagged,
    scores,
    allowlistHits: terms.filter((term) => lists.allowlist.includes(term)),
    denylistHits: terms.filter((term) => lists.denylist.includes(term)),
    personalData: personalData.length === 0 ? nothingFound.personalData : countByKind(personalData),
  }
}

export function addFindings(first: Findings, second: Findings): Findings {
  if (first === nothingFound) return second
  const isHigher = (category: Category): boolean => second.scores[category] > first.scores[category]
  if (isNothing(second) && !categories.some(isHigher)) return first
  return {
    categories: union(first.categories, second.categories),
    scores: perCategory((category) => Math.max(first.scores[category], second.scores[category])),
    allowlistHits: union(first.allowlistHits, second.allowlistHits),
    denylistHits: union(first.denylistHits, second.denylistHits),
    personalData: sum(first.personalData, second.personalData),
  }
}

/** Nobody has anything to say to these, whatever the scores. */
export const isNothing = (found: Findings): boolean =>
  found.categories.length + found.allowlistHits.length + found.denylistHits.length === 0 &&
  found.personalData === nothingFound.personalData

const union = (first: readonly string[], second: readonly string[]): readonly string[] =>
  second.length === 0 ? first : [...new Set([...first, ...second])]

function sum(first: Findings['personalData'], second: Findings['personalData']): Findings['personalData'] {
  if (second === nothingFound.personalData) return first
  const both = { ...first }
  for (const [kind, count] of entriesOf(second)) both[kind] = (both[kind] ?? 0) + count
  return both
}

const entriesOf = (counts: Findings['personalData']): [PersonalDataKind, number][] =>
  Object.entries(counts) as [PersonalDataKind, number][]
