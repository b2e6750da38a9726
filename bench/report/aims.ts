import type { Figure } from '../measure.ts'
import { encoderShare, median, ratio } from './rows.ts'
import type { Results } from './results.ts'

/** What we want to reach, and what was measured. */
export type Aim = { readonly what: string; readonly aim: string; readonly measured: string; readonly isMet: boolean }

type Measured = number | undefined
type Quantity = readonly [
  what: string,
  atMost: Measured,
  unit: 'times' | 'ms' | 'us' | 'KB' | 'MB' | '%',
  measured: Measured,
]

const [whole, rate, burst, paced] = [
  'whole, fresh',
  'whole, fresh, 200 a second',
  'streamed in a burst',
  '100 paced streams',
]
const [plain, with20, with200] = ['gatehouse', 'gatehouse, 20 policies', 'gatehouse, 200 policies']
const [keys, organizations] = ['gatehouse, 1,000 keys', 'gatehouse, 1,000 organizations']
const sampled = 'gatehouse, 10 % traced'

/** Every aim whose cases ran. */
export function aimsOf({ figures, durableWrite, idle }: Results): Aim[] {
  const { middle, cost, times } = readerOf(figures)
  const p50 = (target: string): Measured => middle(rate, target, ({ p50Ms }) => p50Ms)
  const p99 = (target: string): Measured => middle(rate, target, ({ p99Ms }) => p99Ms)
  const delayP50 = (target: string): Measured => middle(paced, target, ({ chunkP50Ms }) => chunkP50Ms)
  const delayP99 = (target: string): Measured => middle(paced, target, ({ chunkP99Ms }) => chunkP99Ms)
  const memory = (name: string): Measured => middle(name, plain, ({ residentKb }) => residentKb)
  const quantities: Quantity[] = [
    ['Whole request, fresh text, against Portkey', 0.6, 'times', times(whole, plain, 'portkey')],
    ['20 policies, against none', 1.2, 'times', times(whole, with20, plain)],
    ['200 policies, against 20', 1.2, 'times', times(whole, with200, with20)],
    ['Texts for the encoder per 100 requests', 0.5, '%', middle(whole, plain, encoderShare)],
    ['Whole request, repeated text, against bare', 3, 'times', times('whole, repeated', plain, 'bare')],
    ['Allocated by JavaScript a request', 60, 'KB', middle(whole, plain, allocatedKb)],
    ['A chunk of a burst, against bare', 3, 'times', times(burst, plain, 'bare')],
    ['A chunk at 20 a second, 100 streams, against bare', 2.5, 'times', times(paced, plain, 'bare')],
    ['Delay of a chunk at 20 words a second, p50', 60, 'ms', delayP50(plain)],
    ['Delay of a chunk at 20 words a second, p99', 250, 'ms', delayP99(plain)],
    ['The same with 20 policies, p50', 60, 'ms', delayP50(with20)],
    ['The same with 20 policies, p99', 250, 'ms', delayP99(with20)],
    ['Memory of a stream', 100, 'KB', perUnit(memory('500 paced streams'), memory(paced), 400)],
    ['200 a second, p50 over direct', durableWrite.p50Ms + 0.7, 'ms', difference(p50(plain), p50('direct'))],
    ['200 a second, p99', sum(product(p99('bare'), 3), durableWrite.p50Ms), 'ms', p99(plain)],
    ['200 a second, CPU of a request', 1.5, 'ms', quotient(cost(rate, plain), 1000)],
    ['Turn 50 of a chat, against turn 2', 1.3, 'times', quotient(cost('turn 50 of a chat'), cost('turn 2 of a chat'))],
    ['1,000 keys, against one', 1.1, 'times', times('many callers', keys, plain)],
    ['1,000 organizations, against one', 1.1, 'times', times('many callers', organizations, plain)],
    ['Traces of 10 % of the requests, against none', 1.03, 'times', times('traces', sampled, plain)],
    ['A further KB of a long prompt', 25, 'us', perUnit(cost('prompt of 64 KB'), cost('prompt of 1 KB'), 63)],
    ['Start until ready, with a data folder that exists', 1000, 'ms', idle?.readyMs],
    ['Memory before the first request', 130, 'MB', idle?.residentMb],
  ]
  return quantities.flatMap(([what, atMost, unit, measured]) => {
    if (measured === undefined || atMost === undefined) return []
    const shown = (value: number): string => `${value >= 20 ? value.toFixed(0) : value.toFixed(2)} ${unit}`
    return [{ what, aim: `at most ${shown(atMost)}`, measured: shown(measured), isMet: measured <= atMost }]
  })
}

function readerOf(figures: readonly Figure[]) {
  const middle = (name: string, target: string, read: (figure: Figure) => Measured): Measured => {
    const own = figures.filter((figure) => figure.case === name && figure.target === target)
    return median(own.flatMap((figure) => read(figure) ?? []))
  }
  return {
    /** The median of the rounds. */
    middle,
    cost: (name: string, target = plain): Measured => middle(name, target, ({ cpuMicros }) => cpuMicros),
    times: (name: string, target: string, other: string): Measured =>
      ratio(
        figures.filter((figure) => figure.case === name),
        target,
        other,
      ),
  }
}

const allocatedKb = ({ heap, requests }: Figure): Measured => heap && heap.allocatedBytes / 1024 / requests

/** Arithmetic on figures that may be missing. */
const combined =
  (combine: (one: number, other: number) => number) =>
  (one: Measured, other: Measured): Measured =>
    one === undefined || other === undefined ? undefined : combine(one, other)
const sum = combined((one, other) => one + other)
const difference = combined((one, other) => one - other)
const product = combined((one, other) => one * other)
const quotient = combined((one, other) => one / other)

const perUnit = (more: Measured, fewer: Measured, units: number): Measured => quotient(difference(more, fewer), units)
