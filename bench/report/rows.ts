import { cases, type BenchCase } from '../cases.ts'
import type { Figure } from '../measure.ts'
import { targets } from '../targets.ts'

/** A target in a case: the round with the median cost. */
export type Row = {
  readonly target: string
  readonly switchedOn: string
  readonly figure: Figure
  readonly leastMicros: number
  readonly mostMicros: number
  /** The cost as a multiple of the bare proxy's in the same round, which ran within seconds; the median of the rounds. */
  readonly timesBare: number | undefined
  /** Whether the cost was stable when the first round began. */
  readonly hasSettled: boolean
}

/** Texts for the encoder per hundred requests. */
export const encoderShare = ({ encoderTexts, requests }: Figure): number | undefined =>
  encoderTexts === undefined ? undefined : (100 * encoderTexts) / requests

export type CaseRows = { readonly benchCase: BenchCase; readonly rows: readonly Row[] }

export function rowsOf(figures: readonly Figure[]): CaseRows[] {
  return cases.flatMap((benchCase) => {
    const ofCase = figures.filter((figure) => figure.case === benchCase.name)
    const rows = targets.flatMap(({ name, switchedOn }) => {
      const own = ofCase.filter(({ target }) => target === name)
      const figure = middle(own)
      if (figure === undefined) return []
      const costs = own.map(({ cpuMicros }) => cpuMicros)
      const timesBare = name === 'direct' ? undefined : ratio(ofCase, name, 'bare')
      const spread = { leastMicros: Math.min(...costs), mostMicros: Math.max(...costs) }
      return [{ target: name, switchedOn, figure, timesBare, ...spread, hasSettled: own[0]?.hasSettled === true }]
    })
    return rows.length === 0 ? [] : [{ benchCase, rows }]
  })
}

/** The cost of a target as a multiple of another's in the same round; the median of the rounds. */
export function ratio(ofCase: readonly Figure[], target: string, other: string): number | undefined {
  const others = ofCase.filter((figure) => figure.target === other)
  const own = ofCase.filter((figure) => figure.target === target)
  return median(own.flatMap(({ cpuMicros }, round) => (others[round] ? [cpuMicros / others[round].cpuMicros] : [])))
}

/** Of an even number of rounds the cheaper one: what else the machine does only adds to a cost. */
function middle(figures: readonly Figure[]): Figure | undefined {
  return figures.toSorted((one, other) => one.cpuMicros - other.cpuMicros)[Math.floor((figures.length - 1) / 2)]
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2
}
