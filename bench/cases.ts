import type { Workload } from './load/workload.ts'
import { ladderNames } from './targets.ts'

/** A workload that runs against some targets. */
export type BenchCase = {
  readonly name: string
  /** What the row exercises, for the page. */
  readonly about: string
  readonly workload: Workload
  /** Names of targets, in the order of the table. */
  readonly targets: readonly string[]
  /** Number of concurrent callers, if not the default. */
  readonly connections?: number
  /** The length of a round, and of the load before it is measured, if not the default. */
  readonly seconds?: number
  readonly laterWarmUpSeconds?: number
  /** A fixed request rate. Without it each caller sends its next request at once (saturated). */
  readonly perSecond?: number
  /** Cases with the same word run in processes of their own, because a process that was busy before keeps its memory. */
  readonly processes?: string
  /** Measures where a request waits. That costs time of its own, so the case has no part in other comparisons. */
  readonly isTraced?: boolean
  /** Part of `--quick`, with these targets only. */
  readonly quick?: readonly string[]
}

/** A prompt of one kilobyte: four older messages and a new one, of the same length. */
const usual: Workload = {
  dialect: 'chat',
  model: 'chat',
  text: 'fresh',
  olderTurns: 4,
  turnCharacters: 180,
  lastCharacters: 180,
}
const streamed = (stream: 'burst' | 'paced'): Workload => ({ ...usual, stream })
const prompt = (lastCharacters: number): Workload => ({ ...usual, olderTurns: 0, lastCharacters })
const quick = ['bare', 'gatehouse', 'gatehouse, 20 policies']

export const cases: readonly BenchCase[] = [
  {
    name: 'whole, fresh',
    about: 'A prompt of 1 KB, an answer of 640 characters, new words in both; 32 callers without a pause.',
    workload: usual,
    targets: [
      'direct',
      'nginx',
      'bare',
      'fastify',
      'portkey',
      'litellm',
      'gatehouse',
      'gatehouse, 20 budgets',
      'gatehouse, 20 policies',
      'gatehouse, 200 policies',
    ],
    quick,
  },
  {
    name: 'whole, repeated',
    about: 'The same bytes each time, so that verdicts come from the cache.',
    workload: { ...usual, text: 'repeated' },
    targets: ['bare', 'gatehouse', 'gatehouse, 20 budgets', 'gatehouse, 20 policies'],
    quick: ['bare', 'gatehouse'],
  },
  {
    name: 'whole, fresh, 200 a second',
    about: 'The same at a modest rate: how long a caller waits.',
    workload: usual,
    targets: ['direct', 'nginx', 'bare', 'portkey', 'gatehouse', 'gatehouse, 20 policies'],
    perSecond: 200,
  },
  {
    name: 'waits at 200 a second',
    about:
      'The case before, traced: p50 / p99 in milliseconds from when a request is received until the upstream is called, until its answer is complete, and until the response is sent; a message to the storage thread until its reply, and in that thread each fdatasync and each commit.',
    workload: usual,
    targets: ['gatehouse', 'gatehouse, 20 policies'],
    perSecond: 200,
    processes: 'traced',
    isTraced: true,
  },
  {
    name: 'streamed in a burst',
    about: 'The answer comes as 100 chunks at once.',
    workload: streamed('burst'),
    targets: ['nginx', 'bare', 'portkey', 'gatehouse', 'gatehouse, 20 policies'],
  },
  ...[100, 500].map((connections): BenchCase => ({
    name: `${connections} paced streams`,
    about: `${connections} answers at the same time, each of 20 words a second.`,
    workload: streamed('paced'),
    targets:
      connections === 100
        ? ['direct', 'bare', 'portkey', 'gatehouse', 'gatehouse, 20 policies']
        : ['direct', 'bare', 'gatehouse', 'gatehouse, 20 policies'],
    connections,
    seconds: 10, // an answer takes five
    laterWarmUpSeconds: 6,
    processes: 'paced',
  })),
  ...[1, 8, 64].map((kilobytes): BenchCase => ({
    name: `prompt of ${kilobytes} KB`,
    about: `One message of ${kilobytes} KB with new words.`,
    workload: prompt(kilobytes * 1024),
    targets: ['bare', 'gatehouse'],
  })),
  ...[2, 50].map((turn): BenchCase => ({
    name: `turn ${turn} of a chat`,
    about: `${(turn - 1) * 2} older messages of 180 characters that were sent before, and a new one.`,
    workload: { ...usual, olderTurns: (turn - 1) * 2 },
    targets: ['bare', 'gatehouse'],
  })),
  {
    name: 'many callers',
    about: 'As the first case, from one key, from 1,000 keys, and from 1,000 organizations with a key each, in turn.',
    workload: usual,
    targets: ['gatehouse', 'gatehouse, 1,000 keys', 'gatehouse, 1,000 organizations'],
  },
  {
    name: 'traces',
    about: 'As the first case, without traces, with traces of one request in ten, and of every request.',
    workload: usual,
    targets: ['gatehouse', 'gatehouse, 10 % traced', 'gatehouse, all traced'],
  },
  {
    name: 'translated',
    about: 'As the first case, in the Messages format over a chat upstream.',
    workload: { ...usual, dialect: 'messages' },
    targets: ['bare', 'gatehouse'],
  },
  {
    name: 'features in turn',
    about: 'As the first case, with one more feature switched on in each row.',
    workload: usual,
    targets: ['bare', ...ladderNames, 'gatehouse'],
  },
]
