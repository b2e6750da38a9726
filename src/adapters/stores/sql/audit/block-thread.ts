import { isMainThread, Worker } from 'node:worker_threads'
import { compressBlock, decompressBlocks, type Bodies, type PackedBlock } from './block-codec.ts'
import type { BlockJobs, BlockReply } from './block-worker.ts'

/** The compressed bodies of one block. */
export const packBlock = async (block: number, bodies: Bodies): Promise<Uint8Array> =>
  isMainThread ? await runInThread('compress', { block, bodies }) : compressBlock(block, bodies)

/** The bodies of some blocks. Damaged blocks have none. */
export const unpackBlocks = async (blocks: readonly PackedBlock[]): Promise<Bodies> =>
  isMainThread ? await runInThread('decompress', blocks) : decompressBlocks(blocks)

type Thread = {
  readonly worker: Worker
  readonly waiting: Map<number, PromiseWithResolvers<BlockReply['result']>>
}

/** One for the process, as it keeps no data. It starts with the first block, and does not keep the process alive. */
let thread: Thread | undefined
let lastId = 0

/**
 * Each block takes hundreds of kilobytes outside of the heap. In the thread that serves requests, a list of events from many blocks would make V8
 * collect the whole heap.
 */
async function runInThread<Kind extends keyof BlockJobs>(
  kind: Kind,
  input: BlockJobs[Kind]['input'],
): Promise<BlockJobs[Kind]['result']> {
  const { worker, waiting } = (thread ??= startThread())
  const id = ++lastId
  const result = Promise.withResolvers<BlockReply['result']>()
  waiting.set(id, result)
  worker.ref()
  worker.postMessage({ id, kind, input })
  return await result.promise
}

function startThread(): Thread {
  const worker = new Worker(new URL('./block-worker.ts', import.meta.url), { name: 'audit-blocks' })
  const started: Thread = { worker, waiting: new Map() }
  const end = (cause: unknown): void => {
    if (thread === started) thread = undefined // the next call starts another one
    for (const { reject } of started.waiting.values())
      reject(new Error('the thread of the audit blocks has ended', { cause }))
    started.waiting.clear()
  }
  worker.on('message', ({ id, result }: BlockReply) => {
    started.waiting.get(id)?.resolve(result)
    started.waiting.delete(id)
    if (started.waiting.size === 0) worker.unref()
  })
  worker.on('error', end)
  worker.on('exit', (code) => end(new Error(`exit code ${code}`)))
  worker.unref()
  return started
}
