import { all, andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { TextDirection } from '../../moderation/classifier.ts'
import type { ScanMode, ScanText } from '../../moderation/scan.ts'
import type { RuleScore } from '../../policy/compiled-rule.ts'
import { createCleanRunCache } from './clean-run-cache.ts'
import { addFindings, findingsOf, isNothing, nothingFound, type Findings } from './findings.ts'
import { joinTextFindings, type TextFindings } from './text-findings.ts'
import { asksForPersonalData, type Plan } from '../rules/plan.ts'
import { createPolicyScorer, type PolicyScorer, type ScannedText } from './score-policies.ts'

export type CollectFindingsParts = {
  readonly screen: ScanText
  /** Lets others run between two long texts. */
  readonly pause: () => Promise<unknown>
  /** How many texts' policy scores are remembered. */
  readonly memory: number
}

/** Texts that are judged together: those of a request, or one block of an answer. */
export type ScannedTexts = {
  readonly texts: readonly string[]
  /** What several of the texts say together; personal data in it was found in them. */
  readonly seams?: readonly string[]
  readonly direction: TextDirection
  /** Categories that count as found, whatever the texts hold: for simulations. */
  readonly givenCategories?: readonly string[]
  /** Leaves personal data unlooked for. It is also left where no rule asks for it. */
  readonly skipsPersonalData?: boolean
  /** How the one text is read, where part of it was read before. */
  readonly reading?: ScanMode | undefined
}

/** So much text is looked at before others get their turn; a long one gives way by itself. */
const turnCharacters = 65_536
/** However short a text is, looking at it costs as much as so many characters. */
const textCharacters = 64
/** The same for texts that policies are asked about; about a long one they give way by themselves. */
const turnTexts = 16

type Looking = Pick<ScannedTexts, 'direction' | 'reading'> & {
  readonly plan: Plan
  readonly skipsPersonalData: boolean
  readonly scorer: PolicyScorer
  /** Characters looked at since others had their turn. */
  turn: number
}

/** One look of all checks at some texts. */
export function createCollectFindings({
  screen,
  pause,
  memory,
}: CollectFindingsParts): (plan: Plan, texts: ScannedTexts) => MaybePromise<TextFindings> {
  const scorerFor = createPolicyScorer(memory, pause)
  const calmRuns = createCleanRunCache(memory, pause)

  return (plan, { texts, seams = none, direction, reading, skipsPersonalData: skips }) => {
    const skipsPersonalData = skips === true || !asksForPersonalData(plan, direction)
    const looking = { plan, direction, reading, skipsPersonalData, scorer: scorerFor(plan, direction), turn: 0 }
    const found = lookAtAll(looking, texts)
    if (seams.length === 0) return found
    const together = andThen(found, () => lookAtAll({ ...looking, skipsPersonalData: true }, seams))
    return andThen(all([found, together]), joinTextFindings)
  }

  function lookAtAll(looking: Looking, texts: readonly string[]): MaybePromise<TextFindings> {
    if (!calmRuns.areIn(texts)) return lookAt(looking, texts)
    return calmRuns.recallOr(texts, rulesOf(looking), (run) => lookAt(looking, run))
  }

  function lookAt(looking: Looking, texts: readonly string[]): MaybePromise<TextFindings> {
    const { plan, direction, reading, skipsPersonalData, scorer } = looking
    const { terms, config } = plan.gateway
    const screened: ScannedText[] = []
    const screenOne = (text: string): MaybePromise<unknown> =>
      andThen(screen({ text, direction, skipsPersonalData, terms, reading }), (screening) => {
        screened.push({ text, screening, findings: findingsOf(screening, config.rules) })
        return giveWay(looking, text.length + textCharacters)
      })
    const scored = (scores: TextFindings['scores']): TextFindings => foundIn(plan, screened, scores)
    return andThen(sequentially(texts, screenOne), () => andThen(scoresOf(scorer, screened), scored))
  }

  function giveWay(looking: Looking, characters: number): MaybePromise<unknown> {
    looking.turn += characters
    if (looking.turn < turnCharacters) return undefined
    looking.turn = 0
    return pause()
  }

  function scoresOf(scorer: PolicyScorer, screened: readonly ScannedText[]): MaybePromise<TextFindings['scores']> {
    if (scorer.isIdle) return none
    const asked: MaybePromise<readonly RuleScore[]>[] = []
    const ask = (one: ScannedText): MaybePromise<unknown> =>
      asked.push(scorer.score(one)) % turnTexts === 0 ? pause() : undefined
    return andThen(sequentially(screened, ask), () => all(asked))
  }
}

/** All that a look depends on but the texts. */
const rulesOf = ({ plan, direction, skipsPersonalData, scorer }: Looking): string =>
  `${direction} ${skipsPersonalData} ${plan.gateway.terms?.digest ?? ''} ${scorer.asking()}`

const none: readonly never[] = []

function foundIn(plan: Plan, screened: readonly ScannedText[], scores: TextFindings['scores']): TextFindings {
  const findings = screened.reduce((sum, one) => addFindings(sum, one.findings), nothingFound)
  const isProvisional = screened.some(({ screening }) => screening.classification.isProvisional === true)
  if (isNothing(findings)) return { findings, scores, offending: none, isProvisional }
  const offending = screened.filter((one) => isOffending(plan, one.findings)).map(({ text }) => text)
  return { findings, scores, offending, isProvisional }
}

function isOffending({ gateway }: Plan, { denylistHits, categories }: Findings): boolean {
  const { flagged_categories: flagged } = gateway.config.rules
  return denylistHits.length > 0 || flagged.some((category) => categories.includes(category))
}
