import { all, andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import { perCategory } from '../../scan/classify/categories.ts'
import type { ClassificationReader, TextDirection } from '../../scan/classify/classifier.ts'
import { injectionPlaces, type InjectionPlace, type TextPlaces } from '../../scan/injection/places.ts'
import type { ScanMode, ScanText } from '../../scan/scan.ts'
import type { RuleScore } from '../../policy/rule-score.ts'
import { createCleanRunCache } from './clean-run-cache.ts'
import {
  findingsOf,
  hasNoFindings,
  joinCollected,
  joinFindings,
  type CollectedFindings,
  type Findings,
} from '../findings.ts'
import { classificationReader, injectionPlacesRead, needsPersonalData, type Plan } from '../plan.ts'
import { createPolicyScorer, type PolicyScorer, type PolicyScorerParts, type ScannedText } from './score-policies.ts'

export type CollectFindingsParts = PolicyScorerParts & { readonly scanText: ScanText }

/** Texts that are evaluated together: those of a request, or one block of a response. */
export type ScannedTexts = {
  readonly texts: readonly string[]
  /** Neighbouring texts joined to one. Not scanned for personal data, because the single texts are. */
  readonly joinedFragments?: readonly string[]
  /** Where the texts are in a request, those of `joinedFragments` included. */
  readonly places?: TextPlaces
  readonly direction: TextDirection
  /** Categories that count as found whatever the texts contain. Used by simulations. */
  readonly givenCategories?: readonly string[] | undefined
  /** Skips personal data. It is skipped as well if no rule of the plan needs it. */
  readonly skipsPersonalData?: boolean
  /** How to scan a text of which a part was scanned before. */
  readonly mode?: ScanMode | undefined
}

/** Characters scanned between two yields to the event loop. A single long text yields while it is scanned. */
const charactersPerYield = 65_536
/** Fixed cost of scanning a text, in characters. */
const textCharacters = 64
/** Texts scored by the policies between two yields. A single long text yields while it is scored. */
const textsPerYield = 16

type Scanning = Pick<ScannedTexts, 'direction' | 'mode' | 'givenCategories'> & {
  readonly plan: Plan
  /** The places of a text that are scanned for prompt injections. */
  readonly placesOf: (text: string) => readonly InjectionPlace[]
  readonly reader: ClassificationReader
  readonly skipsPersonalData: boolean
  readonly scorer: PolicyScorer
  charactersSinceYield: number
}

/** Scans texts with everything the plan needs: classifier, terms, personal data and policy scores. */
export function createCollectFindings(
  parts: CollectFindingsParts,
): (plan: Plan, texts: ScannedTexts) => MaybePromise<CollectedFindings> {
  const { scanText, pause, cacheEntries } = parts
  const scorerFor = createPolicyScorer(parts)
  const cleanRuns = createCleanRunCache(cacheEntries, pause)

  return (plan, { skipsPersonalData: skips, ...given }) => {
    const { texts, joinedFragments = none, places, direction, mode, givenCategories } = given
    const skipsPersonalData = skips === true || !needsPersonalData(plan, direction)
    const scorer = scorerFor(plan, direction)
    const reader = classificationReader(plan, direction)
    const placesOf = createPlacesOf(places, injectionPlacesRead(plan))
    const rules = { plan, reader, placesOf, direction, mode, givenCategories, skipsPersonalData }
    const scanning = { ...rules, scorer, charactersSinceYield: 0 }
    const collected = scanCached(scanning, texts)
    if (joinedFragments.length === 0) return collected
    const joined = andThen(collected, () => scanCached({ ...scanning, skipsPersonalData: true }, joinedFragments))
    return andThen(all([collected, joined]), joinCollected)
  }

  function scanCached(scanning: Scanning, texts: readonly string[]): MaybePromise<CollectedFindings> {
    if (scanning.givenCategories !== undefined || !cleanRuns.hasRun(texts)) return scanAll(scanning, texts)
    const rules = { key: rulesKeyOf(scanning), ofText: (text: string) => scanning.placesOf(text).join() }
    return cleanRuns.getOrScan(texts, rules, (run) => scanAll(scanning, run))
  }

  function scanAll(scanning: Scanning, texts: readonly string[]): MaybePromise<CollectedFindings> {
    const { plan, reader, placesOf, direction, mode, skipsPersonalData, scorer, givenCategories } = scanning
    const { terms, config } = plan.gateway
    const scanned: ScannedText[] = []
    const scanOne = (text: string): MaybePromise<unknown> => {
      const places = placesOf(text)
      const scansForInjection = places.length > 0
      const request = { text, direction, reader, skipsPersonalData, scansForInjection, terms, mode }
      return andThen(scanText(request), (scan) => {
        scanned.push({ text, places, scan, findings: findingsOf(scan, config.rules, places) })
        return yieldIfDue(scanning, text.length + textCharacters)
      })
    }
    const collect = (scores: CollectedFindings['scores']): CollectedFindings => collectedOf(plan, scanned, scores)
    const scored = (): readonly ScannedText[] => withCategories(scanned, givenCategories)
    return andThen(sequentially(texts, scanOne), () => andThen(scoresOf(scorer, scored()), collect))
  }

  function yieldIfDue(scanning: Scanning, characters: number): MaybePromise<unknown> {
    scanning.charactersSinceYield += characters
    if (scanning.charactersSinceYield < charactersPerYield) return undefined
    scanning.charactersSinceYield = 0
    return pause()
  }

  function scoresOf(scorer: PolicyScorer, scanned: readonly ScannedText[]): MaybePromise<CollectedFindings['scores']> {
    if (scorer.hasNoPolicies) return none
    const scores: MaybePromise<readonly RuleScore[]>[] = []
    const score = (one: ScannedText): MaybePromise<unknown> =>
      scores.push(scorer.score(one)) % textsPerYield === 0 ? pause() : undefined
    return andThen(sequentially(scanned, score), () => all(scores))
  }
}

/** The texts as if the classifier had found these categories with certainty. Copies the scans, because scores are cached by them. */
function withCategories(scanned: readonly ScannedText[], given: readonly string[] = none): readonly ScannedText[] {
  if (given.length === 0) return scanned
  return scanned.map(({ text, places, scan, findings }) => {
    const scores = perCategory((category) => (given.includes(category) ? 1 : findings.scores[category]))
    return { text, places, scan: { ...scan }, findings: { ...findings, scores } }
  })
}

function createPlacesOf(
  places: TextPlaces | undefined,
  read: readonly InjectionPlace[],
): (text: string) => readonly InjectionPlace[] {
  if (places === undefined || read.length === 0) return nowhere
  if (read.length === injectionPlaces.length) return (text) => places.get(text) ?? none
  return (text) => places.get(text)?.filter((place) => read.includes(place)) ?? none
}

const nowhere = (): readonly never[] => none

/** Everything besides the texts that findings depend on. */
function rulesKeyOf({ plan, reader, direction, skipsPersonalData, scorer }: Scanning): string {
  const { terms, config } = plan.gateway
  const modes = injectionPlaces.map((place) => config.rules.prompt_injection[place]).join()
  return `${direction} ${skipsPersonalData} ${[...reader.categories].join()} ${modes} ${terms?.digest ?? ''} ${scorer.cacheKey()}`
}

const none: readonly never[] = []

function collectedOf(
  plan: Plan,
  scanned: readonly ScannedText[],
  scores: CollectedFindings['scores'],
): CollectedFindings {
  const findings = joinFindings(scanned)
  const isProvisional = scanned.some(({ scan }) => scan.classification.isProvisional === true)
  if (hasNoFindings(findings)) return { findings, scores, offendingTexts: none, isProvisional }
  const offendingTexts = scanned.filter((one) => isOffending(plan, one.findings)).map(({ text }) => text)
  return { findings, scores, offendingTexts, isProvisional }
}

function isOffending({ gateway }: Plan, { denylistHits, categories }: Findings): boolean {
  const { flagged_categories: flagged } = gateway.config.rules
  return denylistHits.length > 0 || flagged.some((category) => categories.includes(category))
}
