import type { Detector } from '../detector.ts'
import { findNext } from './find.ts'
import type { PersonalDatum } from './kinds.ts'
import { pendingMatchStarts } from './pending-match.ts'

/** Detects personal data without searching any part twice. Each text passed must start with the previous one. */
export type PersonalDataDetector = Detector & {
  /** All matches so far, in order. */
  readonly matches: readonly PersonalDatum[]
  /** Finds the matches that further text cannot change. */
  searchSettled(text: string): void
  /** Finds all matches that begin before `until`, in a complete text. */
  searchTo(text: string, until: number): void
  /** An independent copy of the current state. */
  fork(): PersonalDataDetector
}

export const createPersonalDataDetector = (): PersonalDataDetector => detectFrom(0, [])

function detectFrom(from: number, matches: PersonalDatum[]): PersonalDataDetector {
  let searchedTo = from

  function searchTo(text: string, until: number): void {
    for (let next = findNext(text, searchedTo, until); next !== undefined; next = findNext(text, searchedTo, until)) {
      if (next.kind !== 'literal') matches.push({ ...next, kind: next.kind })
      searchedTo = next.end
    }
    searchedTo = Math.max(searchedTo, until)
  }

  function searchSettled(text: string): void {
    const pendingStarts = pendingMatchStarts(text, searchedTo)
    for (let until = -1; until < searchedTo;) {
      // A match may extend beyond a position that was pending.
      until = pendingStarts.find((start) => start >= searchedTo) ?? Math.max(searchedTo, text.length)
      searchTo(text, until)
    }
  }

  return {
    matches,
    push: (_, text) => searchSettled(text),
    matched: () => matches.length,
    settledTo: () => searchedTo,
    searchTo,
    searchSettled,
    fork: () => detectFrom(searchedTo, [...matches]),
  }
}
