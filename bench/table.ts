import { cases, type BenchCase } from './cases.ts'
import type { Figure } from './measure.ts'

/** All rounds of a target in a case, in ascending order of cost. */
type Rounds = (target: string, caseName: string | undefined) => readonly Figure[]

/** Every case with every target that ran it, and its ratio to the bare proxy. */
export function table(figures: readonly Figure[], targets: readonly string[]): string {
  const rounds: Rounds = (target, caseName) =>
    figures
      .filter((figure) => figure.target === target && figure.case === caseName)
      .toSorted((a, b) => a.cpuMicros - b.cpuMicros)
  return cases
    .map((benchCase) => {
      const line = benchCase.perSecond === undefined ? cost : delay
      const lines = targets
        .filter((target) => rounds(target, benchCase.name).length > 0)
        .map((target) => `  ${target.padEnd(16)} ${line(target, benchCase, rounds)}`)
      return lines.length === 0 ? '' : [titleOf(benchCase), ...lines, ''].join('\n')
    })
    .join('\n')
}

const titleOf = ({ name, unit, perSecond }: BenchCase): string =>
  perSecond === undefined
    ? `${name} (CPU microseconds per ${unit})`
    : `${name} (milliseconds, and those more than directly)`

/** The median, the spread and the ratio. For a chunk, the cost of the request itself is subtracted. */
function cost(target: string, { name, whole, perRequest }: BenchCase, rounds: Rounds): string {
  const micros = (of: string, caseName?: string): number => middle(rounds(of, caseName))?.cpuMicros ?? Number.NaN
  const alone = (of: string): number => micros(of, name) - micros(of, whole) / perRequest
  const own = rounds(target, name).map(({ cpuMicros }) => cpuMicros.toFixed(1))
  const total = `${timesBare(micros(target, name), micros('bare', name))}  (${own[0]} to ${own.at(-1)})`
  return whole === undefined ? total : `${total}, besides the request ${timesBare(alone(target), alone('bare'))}`
}

const timesBare = (value: number, bare: number): string =>
  `${value.toFixed(1).padStart(8)}  ${(value / bare).toFixed(2)} x bare`

function delay(target: string, { name }: BenchCase, rounds: Rounds): string {
  const [own, direct] = [middle(rounds(target, name)), middle(rounds('direct', name))]
  const column = (of: 'p50Ms' | 'p99Ms'): string => {
    const [ms, directMs] = [own?.[of] ?? Number.NaN, direct?.[of] ?? Number.NaN]
    return `${ms.toFixed(2).padStart(8)} (+${(ms - directMs).toFixed(2)})`
  }
  return `p50 ${column('p50Ms')}  p99 ${column('p99Ms')}`
}

const middle = (figures: readonly Figure[]): Figure | undefined => figures[Math.floor(figures.length / 2)]
