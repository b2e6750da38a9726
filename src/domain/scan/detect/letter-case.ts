import { endsInHighSurrogate } from '../normalise/code-units.ts'
import { isAscii } from '../normalise/normalise.ts'
import type { SearchDetector } from './detector.ts'

/** The case that a rule changes a text to before it searches it. */
export type LetterCase = 'lower' | 'upper'

/**
 * Searches a streamed text as if all of it was changed to this case. The search gives up at a character whose other case has
 * another length or depends on its neighbours, because positions and chunks would then change the result.
 */
export function startInCase(detector: SearchDetector, letterCase: LetterCase): SearchDetector {
  /** The first half of a surrogate pair at the end of the text so far. */
  let lead = ''
  let hasGivenUp = false
  /** The characters after the one at which the search gave up, and that one. */
  let unread = 0
  const changeCase = (text: string): string => (letterCase === 'lower' ? text.toLowerCase() : text.toUpperCase())
  return {
    push(more) {
      if (hasGivenUp) {
        unread += more.length
        return
      }
      const isSplit = endsInHighSurrogate(more)
      const text = lead + (isSplit ? more.slice(0, -1) : more)
      lead = isSplit ? more.slice(-1) : ''
      const end = isAscii(text) ? text.length : endOfPlain(text, changeCase)
      hasGivenUp = end < text.length
      if (hasGivenUp) unread = text.length - end + lead.length
      detector.push(changeCase(text.slice(0, end)))
    },
    matched: () => detector.matched() + unread,
    settledTo: detector.settledTo,
    end() {
      detector.push(lead)
      return hasGivenUp ? undefined : detector.end()
    },
  }
}

/** The position of the first character that cannot be changed without its neighbours, or in place. */
function endOfPlain(text: string, changeCase: (text: string) => string): number {
  let end = 0
  for (const one of text) {
    if (one === sigma || changeCase(one).length !== one.length) break
    end += one.length
  }
  return end
}

/** Its lower case depends on whether a letter follows. */
const sigma = 'Σ'
