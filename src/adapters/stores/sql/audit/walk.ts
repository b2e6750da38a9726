import type { Page, Paged } from '../../../../domain/identity/store.ts'
import type { Transaction } from '../database.ts'
import { countRows, positionOf, selectPage, type Listing } from '../page.ts'

type Reader = Pick<Transaction, 'query'>

/** A list of sequences of `audit_event e`. */
export type SequenceListing = Listing<{ sequence: number }, number>

/** How many events one query reads, and how many all queries of a page. */
export type WalkLimits = { readonly slice: number; readonly most: number }

const defaultLimits: WalkLimits = { slice: 25_000, most: 500_000 }

type Walk = {
  readonly listing: SequenceListing
  /** The same list without the conditions that make it slow: where the walk starts and ends. */
  readonly period: SequenceListing
  readonly limits?: WalkLimits | undefined
}

export type WalkedPage = Paged<number> & {
  /** The last sequence that was read, if that was not the end of the list. */
  readonly stoppedAt?: number
}

/**
 * A page of a list whose conditions have no index. It reads the log in slices, and stops after a number of events with what was found
 * by then, because a condition that few events match would otherwise read the whole log.
 */
export async function walkPage(tx: Reader, walk: Walk, page: Page): Promise<WalkedPage> {
  const { order, limit, after } = page
  const position = after === undefined ? undefined : Number(await positionOf(tx, walk.listing, after))
  const range = await rangeOf(tx, walk.period)
  const found: number[] = []
  for (const slice of slicesOf(startingAfter(range, order, position), order, walk.limits)) {
    const { items } = await selectPage(tx, within(walk.listing, slice), { order, limit: limit + 1 - found.length })
    found.push(...items)
    if (found.length > limit) return { items: found.slice(0, limit), hasMore: true }
    if (slice.isLast) return { items: found, hasMore: true, stoppedAt: order === 'desc' ? slice.first : slice.last }
  }
  return { items: found, hasMore: false }
}

/** How many rows such a list has, up to `most`, as far as the walk gets. */
export async function walkCount(
  tx: Reader,
  walk: Walk,
  most: number,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  let count = 0
  for (const slice of slicesOf(await rangeOf(tx, walk.period), 'desc', walk.limits)) {
    count += await countRows(tx, within(walk.listing, slice), most + 1 - count)
    if (count > most) return { count: most, isExact: false }
    if (slice.isLast) return { count, isExact: false }
  }
  return { count, isExact: true }
}

type Range = { readonly first: number; readonly last: number }

const nothing: Range = { first: 1, last: 0 }

/** The first and the last sequence of a list. */
async function rangeOf(tx: Reader, period: SequenceListing): Promise<Range> {
  const {
    items: [last],
  } = await selectPage(tx, period, { order: 'desc', limit: 1 })
  const {
    items: [first],
  } = await selectPage(tx, period, { order: 'asc', limit: 1 })
  return first === undefined || last === undefined ? nothing : { first, last }
}

function startingAfter({ first, last }: Range, order: Page['order'], position: number | undefined): Range {
  if (position === undefined) return { first, last }
  return order === 'desc'
    ? { first, last: Math.min(last, position - 1) }
    : { first: Math.max(first, position + 1), last }
}

/** `isLast` if the walk stops after it although the range goes on. */
type Slice = Range & { readonly isLast: boolean }

function* slicesOf({ first, last }: Range, order: Page['order'], limits = defaultLimits): Generator<Slice> {
  const { slice, most } = limits
  for (let read = 0; first + read <= last; read += slice) {
    const isLast = read + slice >= most && first + read + slice <= last
    if (order === 'desc') yield { first: Math.max(first, last - read - slice + 1), last: last - read, isLast }
    else yield { first: first + read, last: Math.min(last, first + read + slice - 1), isLast }
  }
}

const within = (listing: SequenceListing, { first, last }: Range): SequenceListing => ({
  ...listing,
  only: [...(listing.only ?? []), ['e.sequence >= ?', first], ['e.sequence <= ?', last]],
})
