import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { IdleFigures } from '../idle.ts'
import { timeDurableWrite } from '../load/durable-write.ts'
import type { Quantiles } from '../load/quantiles.ts'
import type { Figure } from '../measure.ts'
import { here } from '../targets/script.ts'

/** All figures of a run, and on what they were measured. */
export type Results = {
  readonly date: string
  readonly commit: string
  readonly cpu: string
  readonly cores: number
  readonly node: string
  /** One page, written durably. */
  readonly durableWrite: Quantiles
  /** Measured only in a run of every case. */
  readonly idle?: IdleFigures
  readonly rounds: number
  readonly seconds: number
  readonly figures: readonly Figure[]
}

const file = here('results/requests.json')

export function describeRun({
  rounds,
  seconds,
}: Pick<Results, 'rounds' | 'seconds'>): Omit<Results, 'figures' | 'idle'> {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    node: process.version,
    durableWrite: timeDurableWrite(),
    rounds,
    seconds,
  }
}

export function saveResults(results: Results): void {
  mkdirSync(here('results'), { recursive: true })
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

export const readResults = (): Results => JSON.parse(readFileSync(file, 'utf8')) as Results
