/** The thread of the encoder: reads texts, runs the model, and answers with logits. It reads one text at a time. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../base/clock.ts'
import { createVocabulary } from '../embedded/unmask.ts'
import {
  importPackage,
  isProblem,
  problem,
  textOf,
  type EncoderPackage,
  type EncoderProblem,
} from './encoder-package.ts'
import { readableText } from './readable-text.ts'
import { everyText, sharedAt } from './shared-memory.ts'
import { windowsOf, type WindowSizes } from './windows.ts'
import { createWordPiece } from './wordpiece.ts'

export type EncoderThreadOptions = WindowSizes & {
  readonly packageName: string
  readonly digest: string
  /** Word hashes of the first stage, with which masked words are read. */
  readonly vocabulary: Uint32Array
  /** Shared memory, because the thread is busy when the service cancels a text. */
  readonly shared: Int32Array<SharedArrayBuffer>
}

export type EncoderThreadRequest = { readonly id: number; readonly text: string }

/** The first reply says that the thread is ready, or why it cannot be. The others answer requests, in their order. */
export type EncoderThreadReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'problem'; readonly problem: EncoderProblem }
  | EncoderThreadAnswer

export type EncoderThreadAnswer =
  | { readonly kind: 'scored'; readonly logits: readonly number[]; readonly durationMs: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly message: string }

type Scorer = (request: EncoderThreadRequest) => Promise<EncoderThreadAnswer>

const { packageName, digest, vocabulary, shared, ...sizes } = workerData as EncoderThreadOptions

async function open(): Promise<Scorer | EncoderProblem> {
  const files = await importPackage(packageName)
  const path = fileURLToPath(files.model)
  const found = await digestOf(files.model)
  if (found !== digest)
    return problem('wrong_digest', `${path} has the digest ${found}, and encoder.json has ${digest}. Install it again.`)
  const runtime = await inNativeCode(0, () => loadRuntime(files))
  if (runtime === undefined) return closedEarly
  if (isProblem(runtime)) return runtime
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1 }
  const session = await inNativeCode(0, () => runtime.InferenceSession.create(path, options))
  if (session === undefined) return closedEarly
  if (session.inputNames.join() !== 'ids' || session.outputNames.join() !== 'logits')
    return problem('unsupported', `${path} has other inputs and outputs than "ids" and "logits".`)
  return createScorer({ runtime, session, files })
}

/** Nobody reads it, because the encoder is closed. */
const closedEarly = problem('unsupported', 'The encoder was closed while it was loaded.')

async function loadRuntime(files: EncoderPackage): Promise<Runtime | EncoderProblem> {
  try {
    const runtime = await files.loadRuntime()
    runtime.env.logLevel = 'error' // its warnings are about the machine, such as files of the system that it cannot read
    return runtime
  } catch (error) {
    return problem('runtime_missing', `onnxruntime-node cannot be loaded: ${textOf(error)}`)
  }
}

/**
 * Runs native code, unless the text is cancelled. A thread that is stopped while native code runs would end the whole process,
 * so the service waits until `isNative` is 0.
 */
async function inNativeCode<T>(id: number, work: () => Promise<T>): Promise<T | undefined> {
  Atomics.store(shared, sharedAt.isNative, 1)
  try {
    const cancelled = Atomics.load(shared, sharedAt.cancelled)
    return cancelled === everyText || (id !== 0 && cancelled === id) ? undefined : await work()
  } finally {
    Atomics.store(shared, sharedAt.isNative, 0)
    Atomics.notify(shared, sharedAt.isNative)
  }
}

type Runtime = Awaited<ReturnType<EncoderPackage['loadRuntime']>>
type Session = Awaited<ReturnType<Runtime['InferenceSession']['create']>>
type ScorerParts = { readonly runtime: Runtime; readonly session: Session; readonly files: EncoderPackage }

function createScorer({ runtime, session, files }: ScorerParts): Scorer {
  const words = createVocabulary(vocabulary)
  const { encode, start, end } = createWordPiece(readFileSync(files.vocabulary, 'utf8'))
  const run = async (window: readonly number[]): Promise<readonly number[]> => {
    const ids = BigInt64Array.from([start, ...window, end], BigInt)
    const { logits } = await session.run({ ids: new runtime.Tensor('int64', ids, [1, ids.length]) })
    return Array.from(logits?.data as Float32Array)
  }
  return async ({ id, text }) => {
    const startedMs = systemClock.monotonicMs()
    const windows: (readonly number[])[] = []
    for (const window of windowsOf(encode(readableText(text, words)), sizes)) {
      const logits = await inNativeCode(id, () => run(window))
      if (logits === undefined) return { kind: 'cancelled' }
      windows.push(logits)
    }
    // The highest: the caller's windows are about as long as these, and it allows for the length of a text.
    const logits = (windows[0] ?? []).map((_, at) => Math.max(...windows.map((window) => window[at] ?? Number.NaN)))
    return { kind: 'scored', logits, durationMs: systemClock.monotonicMs() - startedMs }
  }
}

/** Read in parts, because the whole file would stay in memory for a while. */
async function digestOf(model: URL): Promise<string> {
  const weights = new URL(`${model.href}.data`)
  const hash = createHash('sha256')
  for (const file of existsSync(weights) ? [model, weights] : [model])
    for await (const part of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(part as Buffer)
  return hash.digest('hex')
}

const post = (reply: EncoderThreadReply): void => parentPort?.postMessage(reply)

const opened = await open().catch((error: unknown) =>
  problem('package_incomplete', `The model cannot be loaded: ${textOf(error)}. Install it again.`),
)
if (typeof opened === 'function') {
  parentPort?.on('message', (request: EncoderThreadRequest) => {
    opened(request).then(post, (error: unknown) => post({ kind: 'failed', message: textOf(error) }))
  })
  post({ kind: 'ready' })
} else {
  post({ kind: 'problem', problem: opened })
}
