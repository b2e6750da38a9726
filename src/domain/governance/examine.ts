import { allOf, andThen, inTurn, type Eventually } from '../../base/eventually.ts'
import { decideGateway } from '../gateway/decide.ts'
import type { Direction } from '../moderation/classifier.ts'
import type { Reading, Screen } from '../moderation/screen.ts'
import type { RuleScore } from '../policy/compiled-rule.ts'
import { addFindings, findingsOf, isNothing, nothingFound, type Findings } from './findings.ts'
import { combine, type Verdict } from './outcome.ts'
import { gatewayOutcome, moderationOutcomes, policyOutcome } from './outcomes.ts'
import { asksForPersonalData, oncePerStanding, type Plan, type Standing } from './plan.ts'
import { createPolicyScorer, type Screened } from './score-policies.ts'

export type ExamineParts = {
  readonly screen: Screen
  /** Lets others run between two long texts. */
  readonly pause: () => Promise<unknown>
  /** Whether a judge model can write a text anew. */
  readonly canRephrase: boolean
  /** Whether a rule that should have been judged and was not lets the text pass. */
  readonly failsOpen: boolean
  /** Only what stands against a text is wanted, not who had nothing against it. */
  readonly wantsDenialsOnly?: boolean
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

export type Examination = {
  readonly verdict: Verdict
  readonly findings: Findings
  /** The texts that the gateway's own lists and categories hit. */
  readonly offending: readonly string[]
}

/** The one judgement of all checks, for a request, for an answer, and for a simulation. */
export type Examine = (plan: Plan, texts: Texts) => Eventually<Examination>

/** So much text is looked at before others get their turn; a long one gives way by itself. */
const turnCharacters = 65_536
/** However short a text is, looking at it costs as much as so many characters. */
const textCharacters = 64
/** The same for texts that policies are asked about; about a long one they give way by themselves. */
const turnTexts = 16

export function createExamine(parts: ExamineParts): Examine {
  const { screen, pause, canRephrase, failsOpen, wantsDenialsOnly = false } = parts
  const policyScorer = createPolicyScorer(parts.memory, pause)
  const calmVerdict = {
    request: oncePerStanding((plan) => calmVerdictOf(plan, 'request')),
    response: oncePerStanding((plan) => calmVerdictOf(plan, 'response')),
  }

  return (plan, texts) => andThen(screenAll(plan, texts), (screened) => judge(plan, texts, screened))

  function judge(plan: Plan, { direction, givenCategories }: Texts, screened: readonly Screened[]) {
    const found = screened.reduce((all, { findings }) => addFindings(all, findings), nothingFound)
    const findings = givenCategories ? addFindings(found, { ...nothingFound, categories: givenCategories }) : found
    const isNothingFound = isNothing(findings)
    if (wantsDenialsOnly && isNothingFound && plan.policies[direction].length === 0)
      return { verdict: allowed, findings, offending: none }
    return andThen(policyScores(plan, direction, screened), (scores): Examination => {
      if (isNothingFound && screened.length > 0 && scores.every(areAllZero))
        return { verdict: calmVerdict[direction](plan), findings, offending: none }
      const offending = screened.filter((one) => isOffending(plan, one.findings)).map(({ text }) => text)
      return { verdict: verdictOn(plan, direction, { findings, scores }), findings, offending }
    })
  }

  function screenAll(plan: Plan, { texts, direction, reading, skipsPersonalData: skips }: Texts) {
    const { terms, config } = plan.gateway
    const skipsPersonalData = skips === true || !asksForPersonalData(plan, direction)
    const screened: Screened[] = []
    let turn = 0
    const screenOne = (text: string): Eventually<unknown> => {
      const screening = screen({ text, direction, skipsPersonalData, terms, reading })
      return andThen(screening, (seen) => {
        screened.push({ text, screening: seen, findings: findingsOf(seen, config.rules) })
        turn += text.length + textCharacters
        if (turn < turnCharacters) return undefined
        turn = 0
        return pause()
      })
    }
    return andThen(inTurn(texts, screenOne), () => screened)
  }

  /** Per text, then per policy of the plan. */
  function policyScores(plan: Plan, direction: Direction, screened: readonly Screened[]): Eventually<Scores> {
    if (plan.policies[direction].length === 0) return none
    const score = policyScorer(plan, direction)
    const asked: Eventually<readonly RuleScore[]>[] = []
    const ask = (one: Screened): Eventually<unknown> => (asked.push(score(one)) % turnTexts === 0 ? pause() : undefined)
    return andThen(inTurn(screened, ask), () => allOf(asked))
  }

  /** What is said of texts in which nothing was found, and to which every policy gave 0. */
  function calmVerdictOf(plan: Standing, direction: Direction): Verdict {
    return verdictOn(plan, direction, { findings: nothingFound, scores: [plan.policies[direction].map(() => zero)] })
  }

  function verdictOn(plan: Standing, direction: Direction, { findings, scores }: Judged): Verdict {
    const personalDataCount = Object.values(findings.personalData).reduce((sum, count) => sum + count, 0)
    const ofPolicies = plan.policies[direction].map((policy, at) =>
      policyOutcome(
        policy,
        scores.flatMap((ofText) => ofText[at] ?? []),
        { plan, failsOpen },
      ),
    )
    const decided = decideGateway(plan.gateway.config, { ...findings, direction, personalDataCount, canRephrase })
    return combine([...moderationOutcomes(plan, findings), gatewayOutcome(plan, decided), ...ofPolicies])
  }
}

type Scores = readonly (readonly RuleScore[])[]
type Judged = { readonly findings: Findings; readonly scores: Scores }

const none: readonly never[] = []
const allowed: Verdict = combine([])
const zero: RuleScore = { basisPoints: 0 }

const areAllZero = (scores: readonly RuleScore[]): boolean =>
  scores.every((score) => 'basisPoints' in score && score.basisPoints === 0)

function isOffending({ gateway }: Plan, { denylistHits, categories }: Findings): boolean {
  const { flagged_categories: flagged } = gateway.config.rules
  return denylistHits.length > 0 || flagged.some((category) => categories.includes(category))
}
