import { parentPort } from 'node:worker_threads'
import { compressBlock, decompressBlocks, type Bodies, type PackedBlock } from './block-codec.ts'

/** What the thread is asked for, and its results. Only data crosses the threads. */
export type BlockJobs = {
  readonly compress: {
    readonly input: { readonly block: number; readonly bodies: Bodies }
    readonly result: Uint8Array
  }
  readonly decompress: {
    readonly input: readonly PackedBlock[]
    readonly result: Bodies
  }
}

type BlockRequest = {
  [Kind in keyof BlockJobs]: { readonly id: number; readonly kind: Kind; readonly input: BlockJobs[Kind]['input'] }
}[keyof BlockJobs]
export type BlockReply = { readonly id: number; readonly result: BlockJobs[keyof BlockJobs]['result'] }

parentPort?.on('message', (request: BlockRequest) => {
  const reply: BlockReply = { id: request.id, result: resultOf(request) }
  parentPort?.postMessage(reply)
})

function resultOf({ kind, input }: BlockRequest): BlockReply['result'] {
  return kind === 'compress' ? compressBlock(input.block, input.bodies) : decompressBlocks(input)
}
