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
import { echoVectors } from './vectors.ts'

/** The built-in provider without model and network. The same request always gets the same response. See its README. */
export function createEchoProvider(name: string, estimateTokens: EstimateTokens): Provider {
  return {
    name,
    infer: (call) => generate(call, estimateTokens),
    embed: echoVectors,
    inputTokensOf: estimateInputTokens,
  }
}

async function* generate(call: ProviderCall, estimateTokens: EstimateTokens): AsyncGenerator<Chunk, void> {
  const { request, requestId, model, signal } = call
  const toolNames = createToolNames([])
  const writer = createEventWriter({
    request,
    requestId,
    model,
    toolNames,
    stops: request.stop,
    estimateTokens,
    wrapSignature: () => undefined,
  })
  if ('context_management' in request.raw.body) call.onDropped('context_management')
  const inputTokens = estimateInputTokens(request)
  const used = { outputTokens: 0, reasoningTokens: 0 }
  writer.start(model, { ...used, inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, source: 'reported' })
  const replies = replyTo(request)
  for (const reply of replies) {
    const block = open(writer, reply)
    for (const words of chunksOf(reply.text)) {
      if (signal.aborted) throw cancelled(signal.reason)
      const fitting = words.filter((word) => {
        used.outputTokens += estimateTokens(Buffer.byteLength(word))
        return used.outputTokens <= call.outputLimit.tokens
      })
      writer.delta(block, fitting.join(''))
      if (fitting.length < words.length) {
        writer.end({ stopReason: 'length', usage: { ...used, inputTokens, outputTokens: call.outputLimit.tokens } })
      }
      yield { events: writer.take() }
      if (writer.hasEnded()) return
    }
    if (reply.type === 'thinking') used.reasoningTokens = used.outputTokens
    writer.close(block)
  }
  writer.end({ stopReason: stopReasonOf(replies), usage: { ...used, inputTokens } })
  yield { events: writer.take() }
}

const open = (writer: EventWriter, reply: ReplyBlock): number =>
  reply.type === 'tool-call' ? writer.openToolCall('', reply.name) : writer.open({ type: reply.type })

const stopReasonOf = (replies: readonly ReplyBlock[]): StopReason =>
  replies.at(-1)?.type === 'refusal' ? 'refusal' : 'end'

/** Limits the number of deltas of a block. */
const maxChunks = 16

function chunksOf(text: string): string[][] {
  const words = text.match(/\S+\s*|\s+/g) ?? []
  const size = Math.ceil(words.length / maxChunks) || 1
  return Array.from({ length: Math.ceil(words.length / size) }, (_, at) => words.slice(at * size, (at + 1) * size))
}
