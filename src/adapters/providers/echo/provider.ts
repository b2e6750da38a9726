import type { Chunk, StopReason } from '../../../domain/inference/events.ts'
import type { Provider, ProviderCall } from '../../../domain/inference/provider.ts'
import { estimateInputTokens } from '../../../domain/inference/count.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { createEventWriter } from '../decoding/event-writer.ts'
import { cancelled } from '../failures.ts'
import { createToolNames } from '../encoding/tool-names.ts'
import type { EstimateTokens } from '../decoding/usage.ts'
import type { ReplyBlock } from './reply.ts'
import { replyTo } from './reply.ts'

/** The built-in upstream: no model, no network, and always the same answer to the same request. See its README. */
export function createEchoProvider(name: string, estimateTokens: EstimateTokens): Provider {
  return { name, dialect: undefined, infer: (call) => speak(call, estimateTokens) }
}

async function* speak(call: ProviderCall, estimateTokens: EstimateTokens): AsyncGenerator<Chunk, void> {
  const { request, requestId, model, signal } = call
  const toolNames = createToolNames([])
  const carryProof = (): undefined => undefined
  const write = createEventWriter({
    request,
    requestId,
    model,
    toolNames,
    stops: request.stop,
    estimateTokens,
    carryProof,
  })
  const inputTokens = estimateInputTokens(request)
  const used = { outputTokens: 0, reasoningTokens: 0 }
  write.start(model, { ...used, inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, source: 'reported' })
  const reply = replyTo(request)
  for (const said of reply) {
    const block = open(write, said)
    for (const words of piecesOf(said.text)) {
      if (signal.aborted) throw cancelled(signal.reason)
      const fitting = words.filter((word) => {
        used.outputTokens += estimateTokens(word)
        return used.outputTokens <= call.maxOutputTokens
      })
      write.delta(block, fitting.join(''))
      if (fitting.length < words.length) {
        write.end({ stopReason: 'length', usage: { ...used, inputTokens, outputTokens: call.maxOutputTokens } })
      }
      yield { events: write.take() }
      if (write.hasEnded()) return
    }
    if (said.type === 'thinking') used.reasoningTokens = used.outputTokens
    write.close(block)
  }
  write.end({ stopReason: usualReason(reply), usage: { ...used, inputTokens } })
  yield { events: write.take() }
}

const open = (write: EventWriter, said: ReplyBlock): number =>
  said.type === 'tool-call' ? write.openToolCall('', said.name) : write.open({ type: said.type })

const usualReason = (reply: readonly ReplyBlock[]): StopReason => (reply.at(-1)?.type === 'refusal' ? 'refusal' : 'end')

/** A block is told in at most this many pieces, so that a long echo is no flood. */
const maxPieces = 16

function piecesOf(text: string): string[][] {
  const words = text.match(/\S+\s*|\s+/g) ?? []
  const size = Math.ceil(words.length / maxPieces) || 1
  return Array.from({ length: Math.ceil(words.length / size) }, (_, at) => words.slice(at * size, (at + 1) * size))
}
