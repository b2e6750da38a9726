import type { GatewayConfiguration } from '../gateway-config/configuration.ts'
import { categories, perCategory, type Category, type PerCategory } from '../scan/classify/categories.ts'
import { countByKind, type PersonalDataKind } from '../scan/detect/personal-data/kinds.ts'
import { strongestStage, type SecondStage } from '../scan/classify/classifier.ts'
import type { ScanResult } from '../scan/scan.ts'
import type { RuleScore } from '../policy/rule-score.ts'

/** The result of scanning one or more texts: categories, terms and personal data. No rule has been evaluated yet. */
export type Findings = {
  readonly categories: readonly string[]
  readonly scores: PerCategory<number>
  readonly allowlistHits: readonly string[]
  readonly denylistHits: readonly string[]
  readonly personalData: Readonly<Partial<Record<PersonalDataKind, number>>>
  /** The stage of the classifier that found the categories. Undefined if the first stage was enough. */
  readonly stage?: SecondStage
}

export const noFindings: Findings = {
  categories: [],
  scores: perCategory(() => 0),
  allowlistHits: [],
  denylistHits: [],
  personalData: {},
}

type Lists = Pick<GatewayConfiguration['rules'], 'allowlist' | 'denylist'>

/** Turns the scan of one text into findings; the lists tell allowed terms from denied ones. */
export function findingsOf({ classification, termHits, personalData }: ScanResult, lists: Lists): Findings {
  const { flagged, scores } = classification
  const staged = stagedBy(classification.stage)
  if (termHits.length + personalData.length === 0) return { ...noFindings, categories: flagged, scores, ...staged }
  const terms = termHits.map(({ term }) => term)
  return {
    categories: flagged,
    scores,
    allowlistHits: terms.filter((term) => lists.allowlist.includes(term)),
    denylistHits: terms.filter((term) => lists.denylist.includes(term)),
    personalData: personalData.length === 0 ? noFindings.personalData : countByKind(personalData),
    ...staged,
  }
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
  }
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

/** True if no category, term or personal data was found; scores are ignored. */
export const hasNoFindings = (findings: Findings): boolean =>
  findings.categories.length + findings.allowlistHits.length + findings.denylistHits.length === 0 &&
  findings.personalData === noFindings.personalData

const union = (first: readonly string[], second: readonly string[]): readonly string[] =>
  second.length === 0 ? first : [...new Set([...first, ...second])]

function sum(first: Findings['personalData'], second: Findings['personalData']): Findings['personalData'] {
  if (second === noFindings.personalData) return first
  const both = { ...first }
  for (const [kind, count] of entriesOf(second)) both[kind] = (both[kind] ?? 0) + count
  return both
}

const entriesOf = (counts: Findings['personalData']): [PersonalDataKind, number][] =>
  Object.entries(counts) as [PersonalDataKind, number][]

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
