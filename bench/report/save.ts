import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Figure } from '../measure.ts'
import { here } from '../targets/script.ts'

/** Writes all figures to `bench/results/requests.json`. */
export function save(figures: readonly Figure[], options: object): void {
  mkdirSync(here('results'), { recursive: true })
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, commit }
  writeFileSync(here('results/requests.json'), `${JSON.stringify({ machine, options, figures }, null, 2)}\n`)
}
