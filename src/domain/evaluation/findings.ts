import type { GatewayConfiguration } from '../gateway-config/configuration.ts'
import { categories, perCategory, type Category, type PerCategory } from '../scan/classify/categories.ts'
import { countByKind, type PersonalDataKind } from '../scan/detect/personal-data/kinds.ts'
import { strongestStage, type SecondStage } from '../scan/classify/classifier.ts'
import { injectionThreshold } from '../scan/injection/injection-detector.ts'
import type { InjectionPlace, InjectionScores } from '../scan/injection/places.ts'
import type { ScanResult } from '../scan/scan.ts'
import type { RuleScore } from '../policy/rule-score.ts'

/** The result of scanning one or more texts: categories, terms, personal data and prompt injections. No rule has been evaluated yet. */
export type Findings = {
  readonly categories: readonly string[]
  readonly scores: PerCategory<number>
  readonly allowlistHits: readonly string[]
  readonly denylistHits: readonly string[]
  readonly personalData: Readonly<Partial<Record<PersonalDataKind, number>>>
  /** The stage of the classifier that found the categories. Undefined if the first stage was enough. */
  readonly stage?: SecondStage
  /** The prompt injections found in places that the configuration names. */
  readonly injections: InjectionScores
}

export const noFindings: Findings = {
  categories: [],
  scores: perCategory(() => 0),
  allowlistHits: [],
  denylistHits: [],
  personalData: {},
  injections: {},
}

type Rules = Pick<GatewayConfiguration['rules'], 'allowlist' | 'denylist' | 'prompt_injection'>

/** Turns the scan of one text into findings; the lists tell allowed terms from denied ones. `places`: where the text is in its request. */
export function findingsOf(scan: ScanResult, lists: Rules, places: readonly InjectionPlace[] = nowhere): Findings {
  const { classification, termHits, personalData } = scan
  const { flagged, scores } = classification
  const staged = stagedBy(classification.stage)
  const injections = injectionsIn(scan, lists, places)
  if (termHits.length + personalData.length === 0)
    return { ...noFindings, categories: flagged, scores, ...staged, injections }
  const terms = termHits.map(({ term }) => term)
  return {
    categories: flagged,
    scores,
    allowlistHits: terms.filter((term) => lists.allowlist.includes(term)),
    denylistHits: terms.filter((term) => lists.denylist.includes(term)),
    personalData: personalData.length === 0 ? noFindings.personalData : countByKind(personalData),
    ...staged,
    injections,
  }
}

const nowhere: readonly never[] = []

/** The score of the text in each of its places, as rules read it. */
export const injectionFacts = (
  { injection = 0 }: ScanResult,
  places: readonly InjectionPlace[],
): { readonly prompt_injection?: InjectionScores } =>
  places.length === 0 ? {} : { prompt_injection: Object.fromEntries(places.map((place) => [place, injection])) }

function injectionsIn(
  { injection = 0 }: ScanResult,
  { prompt_injection: modes }: Rules,
  places: readonly InjectionPlace[],
): InjectionScores {
  if (injection < injectionThreshold) return noFindings.injections
  const searched = places.filter((place) => modes[place] !== 'off')
  if (searched.length === 0) return noFindings.injections
  return Object.fromEntries(searched.map((place) => [place, injection]))
}

const unstaged = {}
const stagedBy = (stage: SecondStage | undefined): Pick<Findings, 'stage'> =>
  stage === undefined ? unstaged : { stage }

const joinedStage = (first: Findings, second: Findings): SecondStage | undefined =>
  strongestStage({ flagged: first.categories, stage: first.stage }, { flagged: second.categories, stage: second.stage })

export function addFindings(first: Findings, second: Findings): Findings {
  if (first === noFindings) return second
  const isHigher = (category: Category): boolean => second.scores[category] > first.scores[category]
  if (hasNoFindings(second) && second.stage === undefined && !categories.some(isHigher)) return first
  return {
    categories: union(first.categories, second.categories),
    scores: perCategory((category) => Math.max(first.scores[category], second.scores[category])),
    allowlistHits: union(first.allowlistHits, second.allowlistHits),
    denylistHits: union(first.denylistHits, second.denylistHits),
    personalData: sum(first.personalData, second.personalData),
    ...stagedBy(joinedStage(first, second)),
    injections: highestOf(first.injections, second.injections),
  }
}

function highestOf(first: InjectionScores, second: InjectionScores): InjectionScores {
  if (second === noFindings.injections) return first
  const both = { ...first }
  for (const [place, score] of entriesOf(second)) both[place] = Math.max(both[place] ?? 0, score)
  return both
}

/** The findings of several texts together. Mostly nothing was found, and only the highest scores are needed. */
export function joinFindings(texts: readonly { readonly findings: Findings }[]): Findings {
  const [first] = texts
  if (first === undefined) return noFindings
  if (texts.length === 1) return first.findings
  if (!texts.every(({ findings }) => hasNoFindings(findings) && findings.stage === undefined))
    return texts.reduce((all, { findings }) => addFindings(all, findings), noFindings)
  return { ...noFindings, scores: perCategory((category) => highestScore(texts, category)) }
}

function highestScore(texts: readonly { readonly findings: Findings }[], category: Category): number {
  let highest = 0
  for (const { findings } of texts) highest = Math.max(highest, findings.scores[category])
  return highest
}

/** True if no category, term, personal data or prompt injection was found; scores are ignored. */
export const hasNoFindings = (findings: Findings): boolean =>
  findings.categories.length + findings.allowlistHits.length + findings.denylistHits.length === 0 &&
  findings.personalData === noFindings.personalData &&
  findings.injections === noFindings.injections

const union = (first: readonly string[], second: readonly string[]): readonly string[] =>
  second.length === 0 ? first : [...new Set([...first, ...second])]

function sum(first: Findings['personalData'], second: Findings['personalData']): Findings['personalData'] {
  if (second === noFindings.personalData) return first
  const both = { ...first }
  for (const [kind, count] of entriesOf(second)) both[kind] = (both[kind] ?? 0) + count
  return both
}

const entriesOf = <Key extends string>(counts: Readonly<Partial<Record<Key, number>>>): [Key, number][] =>
  Object.entries(counts) as [Key, number][]

/** Findings of several texts with the score that each policy gave each text: the input of every decision. */
export type CollectedFindings = {
  readonly findings: Findings
  /** Per text, then per policy. */
  readonly scores: readonly (readonly RuleScore[])[]
  /** The texts that hit a denylist term or a flagged category of the gateway configuration. */
  readonly offendingTexts: readonly string[]
  /** True if at least one text was classified by a fallback classifier; such a result must not be cached. */
  readonly isProvisional: boolean
}

/** Joins the results of several batches of texts, in their order. */
export const joinCollected = (batches: readonly CollectedFindings[]): CollectedFindings => ({
  findings: joinFindings(batches),
  scores: batches.flatMap(({ scores }) => scores),
  offendingTexts: batches.flatMap(({ offendingTexts }) => offendingTexts),
  isProvisional: batches.some(({ isProvisional }) => isProvisional),
})

/** True if nothing was found, and every policy was evaluated and gave a score of 0. */
export const isClean = ({ findings, scores }: Pick<CollectedFindings, 'findings' | 'scores'>): boolean =>
  hasNoFindings(findings) && scores.every(areAllZero)

const areAllZero = (scores: readonly RuleScore[]): boolean => scores.every(isZero)

/** The score of a policy that does not match at all. Mostly this object, so a comparison with it is the quick test. */
export const zeroScore: RuleScore = { basisPoints: 0 }

export const isZero = (score: RuleScore | undefined): boolean =>
  score === zeroScore ||
  (score !== undefined && 'basisPoints' in score && score.basisPoints === 0 && score.isSkipped === undefined)
