import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { BroadcastChannel, isMainThread, Worker } from 'node:worker_threads'
import { quantilesOf, type Quantiles } from '../load/quantiles.ts'

/**
 * Where a request waits, seen from outside: Node and undici publish when a request starts, when the upstream is called and has
 * answered, and when the response is sent. The way to the storage thread and back is timed at its messages, and what makes a
 * write durable where it runs. Tracing costs time of its own, so a traced run is not one of those that count.
 */
export const stages = {
  before: 'before the upstream',
  upstream: 'upstream',
  after: 'after the upstream',
  storage: 'storage thread and back',
  sync: 'fdatasync',
  commit: 'commit',
} as const
export type Stage = keyof typeof stages

export type Waits = Readonly<Record<Stage, Quantiles & { readonly count: number }>>

const channelName = 'gatehouse-bench-times'
const timesPerMessage = 32
type ThreadTimes = { readonly stage: Stage; readonly times: readonly number[] }

/** In the main thread: returns a function that reads and forgets what was measured since the last call. */
export function startTrace(): () => Waits {
  const times: Record<Stage, number[]> = { before: [], upstream: [], after: [], storage: [], sync: [], commit: [] }
  traceRequests(times)
  traceMessages(times.storage)
  const channel = new BroadcastChannel(channelName)
  channel.addEventListener('message', ({ data }) => {
    const received = data as ThreadTimes
    times[received.stage].push(...received.times)
  })
  channel.unref()
  return () => ({
    before: take(times.before),
    upstream: take(times.upstream),
    after: take(times.after),
    storage: take(times.storage),
    sync: take(times.sync),
    commit: take(times.commit),
  })
}

function take(values: number[]): Quantiles & { count: number } {
  const taken = values.splice(0)
  return { ...quantilesOf(taken), count: taken.length }
}

type Progress = { startedMs: number; calledMs?: number; answeredMs?: number }

function traceRequests(times: Record<Stage, number[]>): void {
  const current = new AsyncLocalStorage<Progress>()
  const ofResponse = new WeakMap<object, Progress>()
  const ofCall = new WeakMap<object, Progress>()
  subscribe('http.server.request.start', (message) => {
    const progress = { startedMs: performance.now() }
    ofResponse.set((message as { response: object }).response, progress)
    current.enterWith(progress)
  })
  subscribe('undici:request:create', (message) => {
    const progress = current.getStore()
    if (progress === undefined || progress.calledMs !== undefined) return
    progress.calledMs = performance.now()
    ofCall.set((message as { request: object }).request, progress)
    times.before.push(progress.calledMs - progress.startedMs)
  })
  subscribe('undici:request:trailers', (message) => {
    const progress = ofCall.get((message as { request: object }).request)
    if (progress?.calledMs === undefined) return
    progress.answeredMs = performance.now()
    times.upstream.push(progress.answeredMs - progress.calledMs)
  })
  subscribe('http.server.response.finish', (message) => {
    const answeredMs = ofResponse.get((message as { response: object }).response)?.answeredMs
    if (answeredMs !== undefined) times.after.push(performance.now() - answeredMs)
  })
}

/** Messages to a thread are lists of requests with an id, and so are its replies. */
function traceMessages(times: number[]): void {
  const sentMs = new WeakMap<Worker, Map<unknown, number>>()
  const { postMessage, emit } = Worker.prototype
  const idsOf = (message: unknown): unknown[] =>
    Array.isArray(message) ? message.map((item: { id?: unknown }) => item?.id) : []
  Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
    const own = sentMs.get(this) ?? new Map<unknown, number>()
    sentMs.set(this, own)
    for (const id of idsOf(message)) own.set(id, performance.now())
    return postMessage.call(this, message, ...rest)
  }
  Worker.prototype.emit = function (this: Worker, type: string | symbol, ...values: unknown[]) {
    if (type === 'message') {
      const own = sentMs.get(this)
      for (const id of idsOf(values[0])) {
        const atMs = own?.get(id)
        if (own?.delete(id) === true && atMs !== undefined) times.push(performance.now() - atMs)
      }
    }
    return Reflect.apply(emit, this, [type, ...values])
  } as typeof emit
}

/** In other threads: times each `fdatasync` and each commit of SQLite. */
export function traceStorage(): void {
  if (isMainThread) return
  const channel = new BroadcastChannel(channelName)
  channel.unref()
  const fs = process.getBuiltinModule('node:fs')
  fs.fdatasyncSync = timed(fs.fdatasyncSync, 'sync', channel)
  syncBuiltinESMExports()
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest) {
    const statement = prepare.call(this, sql, ...rest)
    if (/^\s*commit/i.test(sql)) statement.run = timed(statement.run.bind(statement), 'commit', channel)
    return statement
  }
}

/** Sends the times in groups, because each message wakes the main thread. */
function timed<T extends (...values: never[]) => unknown>(work: T, stage: Stage, channel: BroadcastChannel): T {
  let times: number[] = []
  return ((...values) => {
    const startMs = performance.now()
    const result = work(...values)
    if (times.push(performance.now() - startMs) < timesPerMessage) return result
    channel.postMessage({ stage, times } satisfies ThreadTimes)
    times = []
    return result
  }) as T
}
