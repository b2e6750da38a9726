import { storable } from '../rollup/entry.ts'
import type { Budget, BudgetMatch } from './budget.ts'

/** What budgets look at in a request. */
export type Spender = {
  readonly projectId: string
  readonly keyId: string
  readonly model: string
  readonly userId?: string | undefined
  readonly tags: Readonly<Record<string, string>>
}

/** Whether the budget applies to requests such as this one. A value that the request does not have is in no list. */
export function matches({ match }: { readonly match: BudgetMatch }, spender: Spender): boolean {
  return (
    isIn(match.projectIds, spender.projectId) &&
    isIn(match.keyIds, spender.keyId) &&
    isIn(match.users, spender.userId) &&
    (match.models.length === 0 || match.models.some((name) => isNamed(name, spender.model))) &&
    haveTags(match.tags, spender)
  )
}

const isIn = (values: readonly string[], value: string | undefined): boolean =>
  values.length === 0 || (value !== undefined && values.includes(value))

const isNamed = (name: string, model: string): boolean =>
  name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model

function haveTags(wanted: BudgetMatch['tags'], spender: Spender): boolean {
  for (const name in wanted) if (!isIn(wanted[name] ?? [], tagOf(spender, name))) return false
  return true
}

/** A tag may be called `constructor`. */
const tagOf = ({ tags }: Spender, name: string): string | undefined =>
  Object.hasOwn(tags, name) ? tags[name] : undefined

/**
 * Whose amount the request spends: null if all share one, undefined if it names nobody and the budget does not apply to it. A user has
 * the name under which costs are kept, because counters are opened from those.
 */
export function memberOf({ per }: Pick<Budget, 'per'>, spender: Spender): string | null | undefined {
  switch (per) {
    case 'all':
      return null
    case 'project':
      return spender.projectId
    case 'key':
      return spender.keyId
    case 'user':
      return spender.userId === undefined ? undefined : storable(spender.userId)
    default:
      return tagOf(spender, per.slice('tag:'.length))
  }
}
