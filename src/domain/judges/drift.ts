/** Whether an active judge still answers as it did when it took over. */
import { psiOf } from './agreement.ts'
import type { JudgeCalibration } from './calibration.ts'
import { sumOf, type JudgeDay } from './counts.ts'
import type { FixedLabels, VersionAt } from './judge.ts'

export const driftKinds = ['kappa', 'scores', 'model', 'failures'] as const
export type DriftKind = (typeof driftKinds)[number]

/** A judge no longer answers as it did. One begins when this is noticed, and ends when it is so no more. */
export type JudgeAlarm = VersionAt & {
  readonly id: string
  readonly kind: DriftKind
  /** One sentence with a full stop. */
  readonly text: string
  readonly sinceMs: number
}

export type DriftFacts = {
  readonly fixed: FixedLabels
  /** The last check of the fixed labels. */
  readonly nightly: Pick<JudgeCalibration, 'report'> | undefined
  /** Of the version, from its activation on. */
  readonly days: readonly JudgeDay[]
  /** False: the first of these days is not the first of the version, so scores are not compared. */
  readonly hasBase: boolean
  readonly today: number
}

/** A fall of kappa by this much. */
const kappaFall = 0.1
const mostPsi = 0.2
const mostFailures = 0.02
/** The scores of the first days are what later ones are compared with. */
const baseDays = 7
/** With fewer scores or questions, no statement is made. */
const leastScores = 200
const leastAsked = 50

/** What is so now, for each kind that can be told from the facts. A model that changed is noticed when it answers. */
export function driftOf(facts: DriftFacts): readonly { readonly kind: DriftKind; readonly text: string }[] {
  return [kappaDrift(facts), scoreDrift(facts), failureDrift(facts)].filter((found) => found !== undefined)
}

function kappaDrift({ fixed, nightly }: DriftFacts) {
  const now = nightly?.report?.kappa
  if (fixed.kappa === null || typeof now !== 'number' || now > fixed.kappa - kappaFall) return undefined
  const text = `Its kappa on the same labels fell from ${fixed.kappa} to ${now}.`
  return { kind: 'kappa' as const, text }
}

/** Today counts, so that a sudden change is noticed on its day. */
function scoreDrift({ days, hasBase, today }: DriftFacts) {
  if (!hasBase) return undefined
  const first = days.reduce((least, { day }) => Math.min(least, day), Infinity)
  const base = sumOf(days.filter(({ day }) => day < first + baseDays)).scores
  const recent = sumOf(days.filter(({ day }) => day >= today - 1 && day >= first + baseDays)).scores
  if (count(base) < leastScores || count(recent) < leastScores) return undefined
  const psi = psiOf(base, recent)
  if (psi <= mostPsi) return undefined
  const text = `Its scores are spread differently from those of its first week: the stability index is ${psi}, above ${mostPsi}.`
  return { kind: 'scores' as const, text }
}

function failureDrift({ days, today }: DriftFacts) {
  const { asked, failed } = sumOf(days.filter(({ day }) => day >= today - 1))
  if (asked < leastAsked || failed / asked <= mostFailures) return undefined
  const text = `It failed on ${failed} of its last ${asked} questions, which is more than 2 %.`
  return { kind: 'failures' as const, text }
}

export const modelChangeText = (upstream: string, before: string, after: string): string =>
  `The upstream ${upstream} answered as ${before} and now answers as ${after}.`

const count = (bins: readonly number[]): number => bins.reduce((sum, each) => sum + each, 0)
