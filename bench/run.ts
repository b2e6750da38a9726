import { parseArgs } from 'node:util'
import { cases, type BenchCase } from './cases.ts'
import { measureIdle } from './idle.ts'
import { measure, type Figure } from './measure.ts'
import { writePage } from './report/page.ts'
import { describeRun, readResults, saveResults } from './report/results.ts'
import { table } from './report/table.ts'
import { startTarget, startUpstream, targets } from './targets.ts'
import { freePort, type Running } from './targets/script.ts'

/**
 * Measures every case against its targets, interleaved in rounds, and prints one table of ratios.
 *
 *   npm run bench -- --quick             about two minutes: whole requests beside the bare proxy
 *   npm run bench -- --only paced        the cases whose name contains the word
 *   npm run bench -- --targets gatehouse the targets whose name contains the word; separate several words by |
 *   npm run bench -- --rounds 1 --seconds 3 --warm-up 9 is shorter and less exact
 *   npm run bench                        every case, at most half an hour
 *   npm run bench -- --write             the same, and writes docs/performance.md and its picture
 *   npm run bench -- --page-only         writes them from the last results
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    targets: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    'warm-up': { type: 'string' },
    write: { type: 'boolean', default: false },
    'page-only': { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds ?? (values.quick ? 2 : 3))
const seconds = Number(values.seconds ?? 4)
/** Servers run for days and the engine has compiled their code, so the first round waits until the cost settles. */
const mostSeconds = Number(values['warm-up'] ?? (values.quick ? 12 : 40))
const firstWarmUp = {
  windowSeconds: 3,
  minSeconds: 28,
  maxSeconds: mostSeconds,
  tolerance: 0.05,
}
const laterWarmUp = (windowSeconds = 1) => ({
  windowSeconds,
  minSeconds: 0,
  maxSeconds: windowSeconds,
  tolerance: 0,
})

const selected = cases.flatMap((benchCase) => {
  const names = values.quick ? (benchCase.quick ?? []) : benchCase.targets
  const words = values.targets.split('|')
  const own = names.filter((name) => words.some((word) => name.includes(word)))
  return benchCase.name.includes(values.only) && own.length > 0 ? [{ ...benchCase, targets: own }] : []
})
if (selected.length === 0) throw new Error(`No such case. There are: ${cases.map(({ name }) => name).join('; ')}.`)
if (values['page-only']) {
  writePage(readResults())
  process.exit()
}
const isComplete = !values.quick && values.only === '' && values.targets === ''
if (values.write && !isComplete) throw new Error('--write needs every case and every target')
const running = new Map<string, Running | undefined>()
const upstream = await startUpstream(await freePort())

try {
  const figures: Figure[] = []
  const idle = isComplete ? await measureIdle(upstream.port) : undefined
  for (const [at, benchCase] of selected.entries()) {
    say(`case ${at + 1} of ${selected.length}: ${benchCase.name}`)
    figures.push(...(await measureCase(benchCase)))
  }
  console.log(table(figures))
  const results = { ...describeRun({ rounds, seconds }), ...(idle && { idle }), figures }
  saveResults(results)
  if (values.write) writePage(results)
} finally {
  for (const target of [...running.values(), upstream]) target?.stop()
}

async function measureCase(benchCase: BenchCase): Promise<Figure[]> {
  const figures: Figure[] = []
  for (let round = 0; round < rounds; round++) {
    for (const target of benchCase.targets) {
      const figure = await measureRound({ benchCase, target, round })
      if (figure !== undefined) figures.push(figure)
    }
  }
  return figures
}

type Round = { readonly benchCase: BenchCase; readonly target: string; readonly round: number }

async function measureRound({ benchCase, target, round }: Round): Promise<Figure | undefined> {
  const key = `${target} ${benchCase.processes ?? ''}`
  const server = target === 'direct' ? upstream : await serverOf(target, key, benchCase.isTraced === true)
  if (server === undefined) return undefined
  const warmUp = round === 0 ? firstWarmUp : laterWarmUp(benchCase.laterWarmUpSeconds)
  try {
    const parts = { running: server, upstreamPort: upstream.port, benchCase, target, warmUp }
    const figure = await measure({ ...parts, seconds: benchCase.seconds ?? seconds })
    const { cpuMicros, warmUpSeconds, hasSettled, failures, requests } = figure
    const warmed = round > 0 ? '' : `, ${hasSettled ? 'settled' : 'not settled'} after ${warmUpSeconds} s`
    const failed = failures === 0 ? '' : `, ${failures} of ${requests} requests failed`
    say(`  round ${round + 1} of ${rounds}, ${target}: ${cpuMicros.toFixed(0)} us${warmed}${failed}`)
    return figure
  } catch (error) {
    say(`  ${target} is left out: ${error instanceof Error ? error.message : String(error)}`)
    server.stop()
    running.set(key, undefined)
    return undefined
  }
}

async function serverOf(name: string, key: string, isTraced: boolean): Promise<Running | undefined> {
  if (running.has(key)) return running.get(key)
  const target = targets.find((one) => one.name === name)
  if (target === undefined) throw new Error(`there is no target ${name}`)
  say(`  starts ${name}`)
  if (isTraced) process.env['BENCH_TRACE'] = 'on'
  const server = await startTarget(target, upstream.port)
  delete process.env['BENCH_TRACE']
  if (server === undefined) say(`  ${name} is left out: it is not installed and could not be`)
  running.set(key, server)
  return server
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
