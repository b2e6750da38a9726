import { allOf, andThen, inTurn, type Eventually } from '../../base/eventually.ts'
import type { Direction } from '../moderation/classifier.ts'
import type { Reading, Screen } from '../moderation/screen.ts'
import type { RuleScore } from '../policy/compiled-rule.ts'
import { createCalmRuns } from './calm-runs.ts'
import { addFindings, findingsOf, isNothing, nothingFound, type Findings } from './findings.ts'
import type { Found } from './found.ts'
import { asksForPersonalData, type Plan } from './plan.ts'
import { createPolicyScorer, type PolicyScorer, type Screened } from './score-policies.ts'

export type LookParts = {
  readonly screen: Screen
  /** Lets others run between two long texts. */
  readonly pause: () => Promise<unknown>
  /** How many texts' policy scores are remembered. */
  readonly memory: number
}

/** Texts that are judged together: those of a request, or one block of an answer. */
export type Texts = {
  readonly texts: readonly string[]
  readonly direction: Direction
  /** Categories that count as found, whatever the texts hold: for simulations. */
  readonly givenCategories?: readonly string[]
  /** Leaves personal data unlooked for. It is also left where no rule asks for it. */
  readonly skipsPersonalData?: boolean
  /** How the one text is read, where part of it was read before. */
  readonly reading?: Reading | undefined
}

/** So much text is looked at before others get their turn; a long one gives way by itself. */
const turnCharacters = 65_536
/** However short a text is, looking at it costs as much as so many characters. */
const textCharacters = 64
/** The same for texts that policies are asked about; about a long one they give way by themselves. */
const turnTexts = 16

/** One look of all checks at some texts. */
export function createLook({ screen, pause, memory }: LookParts): (plan: Plan, texts: Texts) => Eventually<Found> {
  const scorerFor = createPolicyScorer(memory, pause)
  const inRuns = createCalmRuns(memory)

  return (plan, { texts, direction, reading, skipsPersonalData: skips }) => {
    const { terms, config } = plan.gateway
    const skipsPersonalData = skips === true || !asksForPersonalData(plan, direction)
    const scorer = scorerFor(plan, direction)
    let turn = 0

    const screenInto = (screened: Screened[], text: string): Eventually<unknown> =>
      andThen(screen({ text, direction, skipsPersonalData, terms, reading }), (screening) => {
        screened.push({ text, screening, findings: findingsOf(screening, config.rules) })
        turn += text.length + textCharacters
        if (turn < turnCharacters) return undefined
        turn = 0
        return pause()
      })
    const lookAt = (some: readonly string[]): Eventually<Found> => {
      const screened: Screened[] = []
      const screening = inTurn(some, (text) => screenInto(screened, text))
      return andThen(screening, () => andThen(scoresOf(scorer, screened), (scores) => foundIn(plan, screened, scores)))
    }
    const rules = (): string => `${direction} ${skipsPersonalData} ${terms?.digest ?? ''} ${scorer.asking()}`
    return inRuns({ texts, rules, lookAt })
  }

  function scoresOf(scorer: PolicyScorer, screened: readonly Screened[]): Eventually<Found['scores']> {
    if (scorer.isIdle) return none
    const asked: Eventually<readonly RuleScore[]>[] = []
    const ask = (one: Screened): Eventually<unknown> =>
      asked.push(scorer.score(one)) % turnTexts === 0 ? pause() : undefined
    return andThen(inTurn(screened, ask), () => allOf(asked))
  }
}

const none: readonly never[] = []

function foundIn(plan: Plan, screened: readonly Screened[], scores: Found['scores']): Found {
  const findings = screened.reduce((all, one) => addFindings(all, one.findings), nothingFound)
  if (isNothing(findings)) return { findings, scores, offending: none }
  const offending = screened.filter((one) => isOffending(plan, one.findings)).map(({ text }) => text)
  return { findings, scores, offending }
}

function isOffending({ gateway }: Plan, { denylistHits, categories }: Findings): boolean {
  const { flagged_categories: flagged } = gateway.config.rules
  return denylistHits.length > 0 || flagged.some((category) => categories.includes(category))
}
