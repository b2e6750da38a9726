import { failureSubject, rateLimitSubject } from '../rollup/failures.ts'
import { startOf } from '../rollup/kinds.ts'
import { wholePeriod, type SubjectSums } from '../rollup/subject-sums.ts'
import type { TrafficStore, TrafficSum } from '../traffic/traffic.ts'

/** Unix seconds, `to` exclusive. */
export type ReportPeriod = { readonly from: number; readonly to: number }

/** What became of the requests of a time. */
export type PeriodFigures = {
  readonly requests: number
  readonly denied: number
  /** Failed because of an upstream or of the service. */
  readonly failed: number
  readonly rateLimited: number
  /** Mistakes of callers, such as an unknown model. */
  readonly otherErrors: number
  readonly costMicroUsd: number
  /** Requests by latency, as in the sums. */
  readonly latency: readonly number[]
}

export type PeriodStep = PeriodFigures & { readonly startTime: number }

export type FigureStores = { readonly traffic: TrafficStore; readonly subjects: SubjectSums }

/** The period of the same length that ends where this one starts. */
export const periodBefore = ({ from, to }: ReportPeriod): ReportPeriod => ({ from: from - (to - from), to: from })

/** The figures of a whole period. */
export async function readFigures(
  stores: FigureStores,
  organizationId: string,
  period: ReportPeriod,
): Promise<PeriodFigures> {
  const [figures = noFigures] = await readSteps(stores, organizationId, { ...period, step: wholePeriod })
  return figures
}

const noFigures: PeriodFigures = {
  requests: 0,
  denied: 0,
  failed: 0,
  rateLimited: 0,
  otherErrors: 0,
  costMicroUsd: 0,
  latency: [],
}

type SteppedPeriod = ReportPeriod & { readonly step: number }

/** The figures of each step that has requests, in order. */
export async function readSteps(
  { traffic, subjects }: FigureStores,
  organizationId: string,
  { from, to, step }: SteppedPeriod,
): Promise<readonly PeriodStep[]> {
  const [failures, rateLimits] = [failureSubject(undefined), rateLimitSubject(undefined)]
  const [sums, counted] = await Promise.all([
    traffic.sums({ organizationId, from, to, step, groupBy: undefined }),
    subjects({ organizationId, subjects: [failures, rateLimits], from, to, bucket: step }),
  ])
  const countOf = (subject: string, startTime: number): number =>
    counted.find((each) => each.subject === subject && each.startTime === startTime)?.requests ?? 0
  return sums.map((sum) =>
    stepOf(sum, { failed: countOf(failures, sum.startTime), rateLimited: countOf(rateLimits, sum.startTime) }),
  )
}

function stepOf(
  { startTime, requests, denied, errors, costMicroUsd, latency }: TrafficSum,
  { failed, rateLimited }: Pick<PeriodFigures, 'failed' | 'rateLimited'>,
): PeriodStep {
  const otherErrors = Math.max(0, errors - failed - rateLimited)
  return { startTime, requests, denied, failed, rateLimited, otherErrors, costMicroUsd, latency }
}

/** Every step of a period, also those without requests. The first one starts at or before the period. */
export function fillSteps(steps: readonly PeriodStep[], { from, to, step }: SteppedPeriod): PeriodStep[] {
  const byStart = new Map(steps.map((each) => [each.startTime, each]))
  const first = startOf(from, step)
  return Array.from({ length: Math.ceil((to - first) / step) }, (_, at) => {
    const startTime = first + at * step
    return byStart.get(startTime) ?? { ...noFigures, startTime }
  })
}
