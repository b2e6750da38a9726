import { findNext } from './find.ts'
import type { PersonalDatum } from './kinds.ts'
import { pendingMatchStarts } from './pending-match.ts'

/** Searches a text that grows: nothing of it is searched twice. Each text it is shown begins with the one before it. */
export type IncrementalSearch = {
  /** All that was found so far, in order. */
  readonly found: readonly PersonalDatum[]
  /** Finds what no more text can change. Answers where that ends. */
  searchSettled(text: string): number
  /** Finds all that begins before `until`, in a text that is complete. */
  searchTo(text: string, until: number): void
  /** Another one, which goes on from here by itself. */
  fork(): IncrementalSearch
}

export const createIncrementalSearch = (): IncrementalSearch => searchFrom(0, [])

function searchFrom(from: number, found: PersonalDatum[]): IncrementalSearch {
  let searchedTo = from

  function searchTo(text: string, until: number): void {
    for (let next = findNext(text, searchedTo, until); next !== undefined; next = findNext(text, searchedTo, until)) {
      if (next.kind !== 'literal') found.push({ ...next, kind: next.kind })
      searchedTo = next.end
    }
    searchedTo = Math.max(searchedTo, until)
  }

  return {
    found,
    searchTo,
    searchSettled(text) {
      const unsettled = pendingMatchStarts(text, searchedTo)
      for (let until = -1; until < searchedTo;) {
        // What was found may reach beyond a place that seemed unsettled.
        until = unsettled.find((start) => start >= searchedTo) ?? Math.max(searchedTo, text.length)
        searchTo(text, until)
      }
      return searchedTo
    },
    fork: () => searchFrom(searchedTo, [...found]),
  }
}
