import type { JudgeContent } from './judge.ts'
import type { CalibrationReport } from './calibration-report.ts'

export const conditionKinds = [
  'calibration',
  'labels',
  'self_agreement',
  'kappa',
  'not_below_active',
  'injections',
  'latency',
] as const

/** What a judge has to show before it takes over. */
export type TakeOverCondition = {
  readonly kind: (typeof conditionKinds)[number]
  readonly isMet: boolean
  readonly message: string
}

const leastLabels = 50
const leastKappa = 0.6
/** How far the kappa may be below that of the active judge. */
const mostBelow = 0.05

export type TakeOver = {
  readonly report: CalibrationReport | null
  readonly timeoutMs: JudgeContent['timeoutMs']
  /** Of the active judge; undefined if none is active or it was never calibrated. */
  readonly activeKappa: number | null | undefined
}

/** Every condition, met or not. Without a calibration there is nothing else to say. */
export function takeOverConditions({ report, timeoutMs, activeKappa }: TakeOver): TakeOverCondition[] {
  if (report === null)
    return [{ kind: 'calibration', isMet: false, message: 'This version was not calibrated. Calibrate it first.' }]
  const { labels, self_agreement: self, kappa, injections, p95_ms: p95Ms } = report
  const least = Math.round(((activeKappa ?? 0) - mostBelow) * 10_000) / 10_000
  return [
    {
      kind: 'labels',
      isMet: labels >= leastLabels,
      message: `It gave an answer to ${labels} labels; ${leastLabels} are needed.`,
    },
    {
      kind: 'self_agreement',
      isMet: report.consistent,
      message: `Asked twice, it said the same about ${self.found} of ${self.of} labels; 90 % are needed.`,
    },
    {
      kind: 'kappa',
      isMet: kappa !== null && kappa >= leastKappa,
      message:
        kappa !== null
          ? `Its kappa is ${kappa}; ${leastKappa} is needed.`
          : labels === 0
            ? 'Its kappa has no value without answers.'
            : 'Its kappa has no value, because the labels and its answers are all of one kind.',
    },
    ...(typeof activeKappa === 'number'
      ? [
          {
            kind: 'not_below_active' as const,
            isMet: kappa !== null && kappa >= least,
            message: `Its kappa is ${kappa ?? 'unknown'}, that of the active judge ${activeKappa}; it may be lower by ${mostBelow}.`,
          },
        ]
      : []),
    {
      kind: 'injections',
      isMet: injections.of > 0 && injections.passed === injections.of,
      message: `It withstood ${injections.passed} of ${injections.of} attempts to talk it round.`,
    },
    {
      kind: 'latency',
      isMet: p95Ms <= timeoutMs,
      message: `95 % of its answers took at most ${p95Ms} ms; its timeout is ${timeoutMs} ms.`,
    },
  ]
}

export const openConditions = (takeOver: TakeOver): TakeOverCondition[] =>
  takeOverConditions(takeOver).filter(({ isMet }) => !isMet)
