import { decideGateway } from '../gateway/decide.ts'
import type { Direction } from '../moderation/classifier.ts'
import type { Screen } from '../moderation/screen.ts'
import { addFindings, findingsOf, nothingFound, type Findings } from './findings.ts'
import { combine, type Outcome, type Verdict } from './outcome.ts'
import { gatewayOutcome, moderationOutcomes, policyOutcome } from './outcomes.ts'
import type { Plan } from './plan.ts'
import { createScorePolicies, type Screened } from './score-policies.ts'

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
  /** Leaves personal data unlooked for, where no rule asks for it. */
  readonly skipsPersonalData?: boolean
}

export type Examination = {
  readonly verdict: Verdict
  readonly findings: Findings
  /** The texts that the gateway's own lists and categories hit. */
  readonly offending: readonly string[]
}

/** The one judgement of all checks, for a request, for an answer, and for a simulation. */
export type Examine = (plan: Plan, texts: Texts) => Promise<Examination>

/** So much text is looked at before others get their turn; a long one gives way by itself. */
const turnCharacters = 65_536
/** The same for texts that policies are asked about; about a long one they give way by themselves. */
const turnTexts = 16

export function createExamine(parts: ExamineParts): Examine {
  const scorePolicies = createScorePolicies(parts.memory, parts.pause)

  return async (plan, { texts, direction, givenCategories = [], ...rest }) => {
    const screened = await screenAll(plan, { texts, direction, ...rest })
    const found = screened.map(({ findings }) => findings).reduce(addFindings, nothingFound)
    const findings =
      givenCategories.length === 0 ? found : addFindings(found, { ...nothingFound, categories: givenCategories })
    if (parts.wantsDenialsOnly === true && plan.policies[direction].length === 0 && isNothing(findings)) {
      return { verdict: allowed, findings, offending: [] }
    }
    const outcomes = [
      ...moderationOutcomes(plan, findings),
      gatewayOutcome(plan, decideGateway(plan.gateway.config, { ...findings, direction, ...abilities(findings) })),
      ...(await policyOutcomes(plan, direction, screened)),
    ]
    const offending = screened.filter(({ findings: own }) => isOffending(plan, own)).map(({ text }) => text)
    return { verdict: combine(outcomes), findings, offending }
  }

  function abilities({ personalData }: Findings) {
    const personalDataCount = Object.values(personalData).reduce((sum, count) => sum + count, 0)
    return { personalDataCount, canRephrase: parts.canRephrase }
  }

  async function screenAll(
    { gateway }: Plan,
    { texts, direction, skipsPersonalData = false }: Texts,
  ): Promise<Screened[]> {
    const { terms, config } = gateway
    const screened: Screened[] = []
    let turn = 0
    for (const text of texts) {
      const screening = await parts.screen({ text, direction, skipsPersonalData, ...(terms && { terms }) })
      screened.push({ text, findings: findingsOf(screening, config.rules) })
      turn += text.length
      if (turn < turnCharacters) continue
      turn = 0
      await parts.pause()
    }
    return screened
  }

  async function policyOutcomes(plan: Plan, direction: Direction, screened: readonly Screened[]): Promise<Outcome[]> {
    const policies = plan.policies[direction]
    if (policies.length === 0) return []
    const pending: ReturnType<typeof scorePolicies>[] = []
    for (const one of screened) {
      pending.push(scorePolicies(plan, direction, one))
      if (pending.length % turnTexts === 0) await parts.pause()
    }
    const scores = await Promise.all(pending)
    return policies.map((policy, at) =>
      policyOutcome(
        policy,
        scores.flatMap((ofText) => ofText[at] ?? []),
        { plan, failsOpen: parts.failsOpen },
      ),
    )
  }
}

const allowed: Verdict = combine([])

const isNothing = ({ categories, allowlistHits, denylistHits, personalData }: Findings): boolean =>
  categories.length === 0 && allowlistHits.length + denylistHits.length === 0 && Object.keys(personalData).length === 0

function isOffending({ gateway }: Plan, { denylistHits, categories }: Findings): boolean {
  const { flagged_categories: flagged } = gateway.config.rules
  return denylistHits.length > 0 || flagged.some((category) => categories.includes(category))
}
