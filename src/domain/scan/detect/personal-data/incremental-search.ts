import { findNext } from './find.ts'
import type { PersonalDatum } from './kinds.ts'
import { pendingMatchStarts } from './pending-match.ts'

/** Searches a streamed text without searching any part twice. Each text passed must start with the previous one. */
export type IncrementalSearch = {
  /** All matches so far, in order. */
  readonly matches: readonly PersonalDatum[]
  /** Finds the matches that further text cannot change. Returns the position up to which that holds. */
  searchSettled(text: string): number
  /** Finds all matches that begin before `until`, in a complete text. */
  searchTo(text: string, until: number): void
  /** An independent copy of the current state. */
  fork(): IncrementalSearch
}

export const createIncrementalSearch = (): IncrementalSearch => searchFrom(0, [])

function searchFrom(from: number, matches: PersonalDatum[]): IncrementalSearch {
  let searchedTo = from

  function searchTo(text: string, until: number): void {
    for (let next = findNext(text, searchedTo, until); next !== undefined; next = findNext(text, searchedTo, until)) {
      if (next.kind !== 'literal') matches.push({ ...next, kind: next.kind })
      searchedTo = next.end
    }
    searchedTo = Math.max(searchedTo, until)
  }

  return {
    matches,
    searchTo,
    searchSettled(text) {
      const pendingStarts = pendingMatchStarts(text, searchedTo)
      for (let until = -1; until < searchedTo;) {
        // A match may extend beyond a position that was pending.
        until = pendingStarts.find((start) => start >= searchedTo) ?? Math.max(searchedTo, text.length)
        searchTo(text, until)
      }
      return searchedTo
    },
    fork: () => searchFrom(searchedTo, [...matches]),
  }
}
