/** Redacts and restores streamed text. The joined output equals the result for the whole text. */
import { longestLabel } from './look-behind.ts'
import { findNext } from './find.ts'
import { unfinishedPlaceholder } from './placeholder.ts'
import { restorePlaceholders } from './redact.ts'
import { pendingMatchStarts } from './pending-match.ts'
import type { PlaceholderMap } from './placeholder-map.ts'

/** `push` returns the text that may be sent now; `end` returns the rest. */
export type TextStream = { push(text: string): string; end(): string }

export function createRedactionStream(placeholderMap: PlaceholderMap): TextStream {
  let emitted = '' // the end of the emitted text: it may contain the label of what follows
  let held = ''

  const advance = (more: string, isLast: boolean): string => {
    const text = emitted + held + more
    const pendingStarts = isLast ? [] : pendingMatchStarts(text, emitted.length)
    let at = emitted.length
    let output = ''
    for (;;) {
      const until = pendingStarts.find((start) => start >= at) ?? text.length
      const found = findNext(text, at, until)
      output += text.slice(at, found?.start ?? until)
      at = found?.end ?? until
      if (found === undefined) break
      output += placeholderMap.placeholderFor(found.kind, text.slice(found.start, found.end))
    }
    emitted = text.slice(Math.max(0, at - longestLabel - 1), at)
    held = text.slice(at)
    return output
  }
  return { push: (text) => advance(text, false), end: () => advance('', true) }
}

export function createRestorationStream(placeholderMap: Pick<PlaceholderMap, 'valueOf'>): TextStream {
  let held = ''
  return {
    push(more) {
      const text = held + more
      const cut = unfinishedPlaceholder.exec(text)?.index ?? text.length
      held = text.slice(cut)
      return restorePlaceholders(text.slice(0, cut), placeholderMap)
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}
