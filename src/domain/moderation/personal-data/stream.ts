/** Redaction and restoration of text that arrives in pieces. Joined, what comes out equals the whole text done at once. */
import { longestLabel } from './look-behind.ts'
import { findNext } from './find.ts'
import { unfinishedPlaceholder } from './placeholder.ts'
import { restorePlaceholders } from './redact.ts'
import { pendingMatchStarts } from './pending-match.ts'
import type { PlaceholderMap } from './placeholder-map.ts'

/** Give it pieces, get what may leave now; at the end, the rest. */
export type TextStream = { push(piece: string): string; end(): string }

export function createRedactionStream(vault: PlaceholderMap): TextStream {
  let passed = '' // the last of what was passed on: cues for what comes
  let waiting = ''

  const advance = (piece: string, isLast: boolean): string => {
    const text = passed + waiting + piece
    const unsettled = isLast ? [] : pendingMatchStarts(text, passed.length)
    let at = passed.length
    let leaving = ''
    for (;;) {
      const until = unsettled.find((start) => start >= at) ?? text.length
      const found = findNext(text, at, until)
      leaving += text.slice(at, found?.start ?? until)
      at = found?.end ?? until
      if (found === undefined) break
      leaving += vault.placeholderFor(found.kind, text.slice(found.start, found.end))
    }
    passed = text.slice(Math.max(0, at - longestLabel - 1), at)
    waiting = text.slice(at)
    return leaving
  }
  return { push: (piece) => advance(piece, false), end: () => advance('', true) }
}

export function createRestorationStream(vault: Pick<PlaceholderMap, 'valueOf'>): TextStream {
  let waiting = ''
  return {
    push(piece) {
      const text = waiting + piece
      const cut = unfinishedPlaceholder.exec(text)?.index ?? text.length
      waiting = text.slice(cut)
      return restorePlaceholders(text.slice(0, cut), vault)
    },
    end() {
      const rest = waiting
      waiting = ''
      return rest
    },
  }
}
