/** Quality metrics of scores and of verdicts. */
import { createSeeded } from './seeded.ts'

export type Judged = { readonly score: number; readonly isPositive: boolean }

/** Area under the precision-recall curve, as average precision. */
export function averagePrecision(judged: readonly Judged[]): number {
  let hits = 0
  let sum = 0
  for (const [rank, { isPositive }] of judged.toSorted((first, second) => second.score - first.score).entries()) {
    if (!isPositive) continue
    hits += 1
    sum += hits / (rank + 1)
  }
  return hits === 0 ? Number.NaN : sum / hits
}

export type Interval = { readonly low: number; readonly high: number }

const resamples = 1000

/** The bootstrap 95 % interval of the average precision: the texts are drawn again, with repetition, a thousand times. */
export function averagePrecisionInterval(judged: readonly Judged[]): Interval {
  const descending = judged.toSorted((first, second) => second.score - first.score)
  const chance = createSeeded(descending.length)
  const draws = Array.from({ length: resamples }, () => {
    const times = new Uint16Array(descending.length)
    for (let draw = 0; draw < descending.length; draw++) {
      const at = Math.floor(chance() * descending.length)
      times[at] = (times[at] ?? 0) + 1
    }
    return averagePrecisionOfDraw(descending, times)
  }).filter((value) => !Number.isNaN(value))
  return { low: quantile(draws, 0.025), high: quantile(draws, 0.975) }
}

/** The average precision where each text counts as often as it was drawn. */
function averagePrecisionOfDraw(descending: readonly Judged[], times: Uint16Array): number {
  let rank = 0
  let hits = 0
  let sum = 0
  for (const [at, { isPositive }] of descending.entries()) {
    for (let time = times[at] ?? 0; time > 0; time--) {
      rank += 1
      if (!isPositive) continue
      hits += 1
      sum += hits / rank
    }
  }
  return hits === 0 ? Number.NaN : sum / hits
}

/** Area under the ROC curve: how often a positive scores above a negative. Ties count half. */
export function rocArea(judged: readonly Judged[]): number {
  const ascending = judged.toSorted((first, second) => first.score - second.score)
  let negatives = 0
  let sum = 0
  for (let at = 0; at < ascending.length;) {
    let end = at
    while (end < ascending.length && ascending[end]?.score === ascending[at]?.score) end += 1
    const tied = ascending.slice(at, end)
    const positives = tied.filter(({ isPositive }) => isPositive).length
    sum += positives * (negatives + (tied.length - positives) / 2)
    negatives += tied.length - positives
    at = end
  }
  const positives = judged.length - negatives
  return positives === 0 || negatives === 0 ? Number.NaN : sum / (positives * negatives)
}

export type Verdicts = { readonly recall: number; readonly precision: number; readonly falsePositiveRate: number }

/** Recall, precision and false-positive rate of blocking at `threshold`. */
export function verdictsAt(judged: readonly Judged[], threshold: number): Verdicts {
  const blocked = judged.filter(({ score }) => score >= threshold)
  const hits = blocked.filter(({ isPositive }) => isPositive).length
  const positives = judged.filter(({ isPositive }) => isPositive).length
  return {
    recall: hits / positives,
    precision: hits / blocked.length,
    falsePositiveRate: (blocked.length - hits) / (judged.length - positives),
  }
}

/** The value below which the given share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((first, second) => first - second)
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? Number.NaN
}
