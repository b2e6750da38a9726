import { andThen, isPending, type Eventually } from '../../base/eventually.ts'
import { unsettledStarts } from '../moderation/personal-data/unsettled.ts'
import type { ReadAlong } from '../moderation/read-along.ts'
import type { Examination, Examine } from './examine.ts'
import { isTense, wordEnd, type Holding } from './holding.ts'
import type { Texts } from './look.ts'
import { isDenied } from './outcome.ts'
import type { Plan } from './plan.ts'
import { createStepBack, stepBack } from './step-back.ts'

/**
 * Reads along with one block of an answer and says how much of it may leave. Where it looks depends on the text alone,
 * never on how it was cut into pieces: a streamed answer and a whole one get the same verdict.
 */
export type Follower = {
  /** Takes more of the text. Answers the examination that denies it, if one does. */
  push(piece: string): Eventually<Examination | undefined>
  /** Looks between two checks, so that what is fit to leave need not wait for more. This never denies anything. */
  lookAhead(keptBack: number): Eventually<unknown>
  /** How many characters from the beginning may leave. */
  cleared(): number
  /** The judgement of the whole text; the follower is then done. */
  end(): Eventually<Examination>
}

export type FollowParts = {
  readonly plan: Plan
  readonly holding: Holding
  readonly examine: Examine
  /** The same judgement without remembering it: pieces of a text are seen once. */
  readonly glance: Examine
  /** Lets others run while a long text is read at once. */
  readonly pause: () => Promise<unknown>
  /** Spares reading again what was read at the look before. */
  readonly readAlong?: ReadAlong
  /** What is judged of the text in the end, where it is not the text itself. */
  readonly read?: (text: string) => string
}

/** A check is made at every multiple of this. */
const stepCharacters = 128
/** So much of what was checked is held back all the same: a text often turns within a few words. */
const keptBackCharacters = 64
/** Where a word goes on for longer than this, it is cut. */
const longestWord = 64
/** What a check looks at: so much of what came before. */
const windowCharacters = 512
/** So much is read before others get their turn. */
const turnCharacters = 64 * stepCharacters

export function createFollower(parts: FollowParts): Follower {
  const { plan, holding, examine, glance, pause, read = (whole) => whole } = parts
  const stepPlan: Plan = { ...plan, policies: holding.policies }
  const windowStart = createStepBack()
  let text = ''
  let readFrom: ReturnType<ReadAlong> | undefined
  let checked = 0
  let cleared = 0

  const longest = Math.max(holding.reach, holding.terms?.longest ?? 0)

  /** Looks at the text up to a place; keeps a number of characters back where it is fit to leave. */
  function look(seen: number, keptBack: number): Eventually<Examination | undefined> {
    const start = startOfWindow(seen)
    readFrom ??= parts.readAlong?.('response')
    const texts: Texts = {
      texts: [text.slice(start, seen)],
      direction: 'response',
      skipsPersonalData: !holding.personalData,
      reading: readFrom?.(text, start),
    }
    return andThen(glance(stepPlan, texts), (examination) => {
      if (isDenied(examination.verdict)) return examination
      if (!isTense(examination.findings, holding.blocking))
        cleared = Math.max(cleared, Math.min(seen - keptBack, settledAt(seen)))
      return undefined
    })
  }

  /** The checks that are due, one after the other, up to the first that denies the text. */
  function check(): Eventually<Examination | undefined> {
    while (checked + stepCharacters <= text.length) {
      checked += stepCharacters
      const looked = look(wordEnd(text, checked, longestWord), keptBackCharacters)
      if (isPending(looked)) return looked.then((denied) => denied ?? check())
      if (looked !== undefined) return looked
      if (checked % turnCharacters === 0) return pause().then(check)
    }
    return undefined
  }

  function startOfWindow(end: number): number {
    const start = windowStart(text, end, Math.max(windowCharacters, longest + stepCharacters))
    return wordEnd(text, holding.personalData ? Math.min(start, cleared) : start, longestWord)
  }

  /** Behind this place nothing can still become a match that began before it. */
  function settledAt(seen: number): number {
    const { reach, terms, personalData } = holding
    if (longest === 0 && !personalData) return seen
    const before = text.slice(0, seen)
    const settled = Math.min(
      stepBack(text, seen, reach),
      terms?.pendingStart(before, stepBack(text, seen, terms.longest)) ?? seen,
    )
    if (!personalData) return settled
    const [unsettled = settled] = unsettledStarts(before, cleared)
    return Math.min(settled, unsettled)
  }

  return {
    push(piece) {
      text += piece
      return holding.isWhole ? undefined : check()
    },
    lookAhead(keptBack) {
      if (!holding.isWhole && cleared < text.length - keptBack) return look(text.length, keptBack)
      return undefined
    },
    cleared: () => cleared,
    end() {
      const whole = read(text)
      const texts = whole.trim() === '' ? [] : [whole]
      const reading = whole === text ? readFrom?.(text, 0) : undefined
      const judged = examine(plan, { texts, direction: 'response', reading })
      return andThen(judged, (examination) => {
        if (!isDenied(examination.verdict)) cleared = Infinity
        return examination
      })
    },
  }
}
