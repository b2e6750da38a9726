import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { cases } from './cases.ts'
import { measure, type Figure } from './measure.ts'
import { plot } from './plot.ts'
import { freePort, type Running } from './script.ts'
import { table } from './table.ts'
import { startTarget, startUpstream, targets } from './targets.ts'

/**
 * Prints one table of ratios: every target under every case, interleaved in rounds.
 * `npm run bench -- --rounds 3 --seconds 4`; `--only whole` runs only the cases whose name contains the word.
 */
const options = readOptions(process.argv.slice(2))
const selectedCases = cases.filter(({ name }) => name.includes(options.only))
/** Warm-up time, because servers run for days and the engine has compiled their code. */
const warmUpSeconds = 6
const upstream = await startUpstream(await freePort())
const running: Running[] = []

try {
  for (const target of targets) running.push(await startTarget(target, upstream.port))
  const figures = await measureAll()
  const names = targets.map(({ name }) => name)
  console.log(table(figures, names))
  save(figures)
} finally {
  for (const target of [...running, upstream]) target.stop()
}

async function measureAll(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (let round = 0; round <= options.rounds; round++) {
    for (const benchCase of selectedCases) {
      for (const target of running.filter(({ answers }) => answers(benchCase))) {
        const figure = await measure(target, benchCase, { seconds: round === 0 ? warmUpSeconds : options.seconds })
        if (round > 0) figures.push(figure) // round 0 warms up
      }
    }
  }
  return figures
}

function save(figures: readonly Figure[]): void {
  const folder = new URL('results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, commit }
  writeFileSync(new URL('road.json', folder), `${JSON.stringify({ machine, options, figures }, null, 2)}\n`)
  const unitOf = (name: string): string => cases.find((benchCase) => benchCase.name === name)?.unit ?? ''
  writeFileSync(new URL('road.svg', folder), plot(figures, unitOf))
}

function readOptions(args: readonly string[]): { rounds: number; seconds: number; only: string } {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string' }, seconds: { type: 'string' }, only: { type: 'string' } },
  })
  return { rounds: Number(values.rounds ?? 3), seconds: Number(values.seconds ?? 4), only: values.only ?? '' }
}
