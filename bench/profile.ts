import { mkdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { cases } from './cases.ts'
import { measure, type Figure } from './measure.ts'
import { startTarget, startUpstream, targets } from './targets.ts'
import { freePort, here } from './targets/script.ts'

/**
 * Profiles the main thread of a target under one case, and prints where it spends its time by file and by function.
 *
 *   node bench/profile.ts [--case 'whole, fresh'] [--target 'gatehouse, 20 policies'] [--seconds 8] [--heap]
 *
 * With `--heap` it prints where memory is allocated instead. The profile itself is written to `bench/results`; Chrome's developer tools
 * open it.
 */
const { values } = parseArgs({
  options: {
    case: { type: 'string', default: 'whole, fresh' },
    target: { type: 'string', default: 'gatehouse' },
    seconds: { type: 'string', default: '8' },
    heap: { type: 'boolean', default: false },
    rows: { type: 'string', default: '40' },
  },
})
const benchCase = cases.find(({ name }) => name === values.case)
const target = targets.find(({ name }) => name === values.target)
if (benchCase === undefined)
  throw new Error(`There is no case ${values.case}: ${cases.map(({ name }) => name).join('; ')}`)
if (target === undefined)
  throw new Error(`There is no target ${values.target}: ${targets.map(({ name }) => name).join('; ')}`)

mkdirSync(here('results'), { recursive: true })
const file = here(`results/profile.${values.heap ? 'heapprofile' : 'cpuprofile'}`)
const upstream = await startUpstream(await freePort())
process.env['BENCH_PROFILE'] = file
const running = await startTarget(target, upstream.port)
try {
  if (running === undefined) throw new Error(`${target.name} cannot be installed here`)
  const warmUp = { windowSeconds: 3, minSeconds: 12, maxSeconds: 12, tolerance: 0 }
  const parts = { running, upstreamPort: upstream.port, benchCase, target: target.name, warmUp }
  report(await measure({ ...parts, seconds: Number(values.seconds) }))
} finally {
  running?.stop()
  upstream.stop()
}

function report(figure: Figure): void {
  const { threads, requests, chunks, p50Ms, p99Ms, heap } = figure
  const units = chunks ?? requests
  const of = (total: number): string => (total / units).toFixed(1).padStart(8)
  console.log(`${requests} requests, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`)
  if (heap !== undefined) console.log(`${(heap.allocatedBytes / 1024 / requests).toFixed(0)} KB allocated a request`)
  console.log(`\nper ${chunks === undefined ? 'request' : 'chunk'}: CPU us, us queued, sleeps, preemptions`)
  for (const [name, use] of Object.entries(threads))
    console.log(`${of(use.cpuMicros)} ${of(use.queuedMicros)} ${of(use.sleeps)} ${of(use.preemptions)}  ${name}`)
  const costs = values.heap ? heapCosts() : cpuCosts()
  const unit = values.heap ? 'bytes' : 'us'
  for (const by of ['file', 'function'] as const) {
    console.log(`\nmain thread by ${by}: ${unit} per ${chunks === undefined ? 'request' : 'chunk'}`)
    const sums = Map.groupBy(costs, (cost) => (by === 'file' ? cost.file : `${cost.name} ${cost.file}`))
    const rows = [...sums].map(([name, own]) => [name, own.reduce((sum, { cost }) => sum + cost, 0)] as const)
    for (const [name, cost] of rows.toSorted((one, other) => other[1] - one[1]).slice(0, Number(values.rows)))
      console.log(`${of(cost)}  ${name}`)
  }
  console.log(`\n${file}`)
}

type Cost = { readonly name: string; readonly file: string; readonly cost: number }
type CallFrame = { readonly functionName: string; readonly url: string; readonly lineNumber: number }

function costOf({ functionName, url, lineNumber }: CallFrame, cost: number): Cost {
  const path = url.replace(/^file:\/\//, '').replace(here('../'), '')
  // Waiting is no cost, and writing the profile is none of the target's.
  if (functionName === '(idle)' || url === 'node:inspector') return { name: '', file: '', cost: 0 }
  return { name: `${functionName || '(anonymous)'}:${lineNumber + 1}`, file: path || '(native)', cost }
}

function cpuCosts(): Cost[] {
  type Profile = {
    readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
    readonly samples: readonly number[]
    readonly timeDeltas: readonly number[]
  }
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  return samples.flatMap((id, at) => {
    const frame = frames.get(id)
    return frame === undefined ? [] : [costOf(frame, timeDeltas[at] ?? 0)]
  })
}

type HeapNode = { readonly callFrame: CallFrame; readonly selfSize: number; readonly children: readonly HeapNode[] }

function heapCosts(): Cost[] {
  const { head } = JSON.parse(readFileSync(file, 'utf8')) as { head: HeapNode }
  const walk = ({ callFrame, selfSize, children }: HeapNode): Cost[] => [
    costOf(callFrame, selfSize),
    ...children.flatMap(walk),
  ]
  return walk(head)
}
