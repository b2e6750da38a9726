import { RE2JS } from 're2js'
import type { PatternEngine } from '../../domain/moderation/patterns.ts'

/** RE2 in JavaScript: no back-references, no look-around, and no pattern that can be made to hang. */
export const re2Patterns: PatternEngine = {
  compile(source, { ignoreCase }) {
    const pattern = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return {
      find(text) {
        // The test alone runs on a far faster engine than the search for the place, and most texts do not match.
        if (!pattern.test(text)) return undefined
        const matcher = pattern.matcher(text)
        return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
      },
    }
  },
}
