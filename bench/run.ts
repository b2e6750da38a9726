import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { execFileSync } from 'node:child_process'
import { cases } from './cases.ts'
import { measure, type Figure } from './measure.ts'
import { median, plot } from './plot.ts'
import { startTarget, startUpstream, targets, type Running } from './targets.ts'

/** One table of ratios: every target under every case, interleaved in rounds. `npm run bench -- --rounds 3 --seconds 4`. */
const options = readOptions(process.argv.slice(2))
/** Servers run for days: what is measured is code that the engine has had time to compile. */
const warmUpSeconds = 6
const upstream = await startUpstream()
const running: Running[] = []

try {
  for (const target of targets) running.push(await startTarget(target, upstream.port))
  const figures = await measureAll()
  print(figures)
  save(figures)
} finally {
  for (const target of [...running, upstream]) target.stop()
}

async function measureAll(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (let round = 0; round <= options.rounds; round++) {
    for (const benchCase of cases) {
      for (const target of running.filter(({ answers }) => answers(benchCase))) {
        const figure = await measure(target, benchCase, { seconds: round === 0 ? warmUpSeconds : options.seconds })
        if (round > 0) figures.push(figure) // round 0 warms up
      }
    }
  }
  return figures
}

function print(figures: readonly Figure[]): void {
  for (const benchCase of cases) {
    const of = (name: string, caseName = benchCase.name): number[] =>
      figures.filter((figure) => figure.target === name && figure.case === caseName).map(({ cpuMicros }) => cpuMicros)
    const timesBare = (value: (name: string) => number, name: string): string =>
      `${value(name).toFixed(1).padStart(8)}  ${(value(name) / value('bare')).toFixed(2)} x bare`
    const total = (name: string): number => median(of(name))
    const chunkAlone = (name: string): number => total(name) - median(of(name, benchCase.whole)) / benchCase.perRequest
    console.log(`\n${benchCase.name} (CPU microseconds per ${benchCase.unit})`)
    for (const { name } of targets) {
      const values = of(name)
      if (values.length === 0) continue
      const spread = `${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)}`
      const alone = benchCase.whole === undefined ? '' : `, besides the request ${timesBare(chunkAlone, name)}`
      console.log(`  ${name.padEnd(12)} ${timesBare(total, name)}  (${spread})${alone}`)
    }
  }
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

function readOptions(args: readonly string[]): { rounds: number; seconds: number } {
  const valueOf = (name: string, otherwise: number): number =>
    Number(args[args.indexOf(name) + 1] ?? Number.NaN) || otherwise
  return {
    rounds: args.includes('--rounds') ? valueOf('--rounds', 3) : 3,
    seconds: args.includes('--seconds') ? valueOf('--seconds', 4) : 4,
  }
}
