import type { Backtest } from './queries.ts'

export type BacktestResult = NonNullable<Backtest['result']>

/** What a threshold would do to the replayed requests. */
export type ThresholdEffect = {
  readonly threshold: number
  readonly denied: number
  readonly newlyDenied: number
  readonly newlyAllowed: number
}

/** Scores are counted in ranges of this width, so the effect is known for each multiple of it. */
export const thresholdStep = 100
export const highestThreshold = 9_900

/** The effect of every threshold from 100 to 9,900, from the scores of one replay. */
export function curveOf({ scores }: Pick<BacktestResult, 'scores'>): ThresholdEffect[] {
  const thresholds = Array.from({ length: highestThreshold / thresholdStep }, (_, at) => (at + 1) * thresholdStep)
  return thresholds.map((threshold) => {
    const effect = { threshold, denied: 0, newlyDenied: 0, newlyAllowed: 0 }
    for (const { from_basis_points: from, allowed, blocked_by_policy: blocked, other } of scores) {
      if (from < threshold) effect.newlyAllowed += blocked
      else {
        effect.denied += allowed + blocked + other
        effect.newlyDenied += allowed
      }
    }
    return effect
  })
}

/** The nearest threshold of the curve. */
export const onCurve = (threshold: number): number =>
  Math.min(highestThreshold, Math.max(thresholdStep, Math.round(threshold / thresholdStep) * thresholdStep))

/** Whether every threshold has the same effect, as with a rule that only says yes or no. */
export const isFlat = (curve: readonly ThresholdEffect[]): boolean =>
  curve.every(({ denied }) => denied === curve[0]?.denied)
