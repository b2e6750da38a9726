import { words } from '../../words/en.ts'
import type { CatalogueModel } from './queries.ts'

const text = words.models

const dollars = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  maximumFractionDigits: 6,
})

/** A price of a million tokens. */
export const priceOf = (usd: number): string => (usd === 0 ? text.freePrice : dollars.format(usd))

/** What requests cost. Small sums have more digits, because a few requests cost less than a cent. */
export const costOf = (usd: number): string =>
  usd.toLocaleString(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: usd < 1 ? 4 : 2,
  })

/** How many keys may use a model. */
export function mayUseOf({ may_use: mayUse }: CatalogueModel): string {
  const { keys_with_all_models: all, keys_that_list_it: listed, free_requests: isFree } = mayUse
  const parts = [...(all + listed > 0 ? [text.keys(all + listed)] : []), ...(isFree ? [text.free] : [])]
  return parts.length === 0 ? text.nobody : parts.join(', ')
}
