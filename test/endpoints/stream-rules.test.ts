import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../src/base/fault.ts'
import type { InferenceEvent, RawFrame, Chunk } from '../../src/domain/inference/events.ts'
import { createEventOrder } from '../../src/domain/inference/event-order.ts'
import type { CallerFormat } from '../../src/domain/inference/formats.ts'
import { createChatWriter } from '../../src/http/chat/stream-writer.ts'
import { createMessagesWriter } from '../../src/http/messages/stream-writer.ts'
import { createResponsesWriter } from '../../src/http/responses/stream-writer.ts'
import type { AnswerContext, StreamWriter } from '../../src/http/inference/writing/stream-writer.ts'
import { anyEvents, close, contextIn, end, inSequence } from '../support/answers.ts'
import { readFrames } from '../support/sse-server.ts'
import { checkChatStream } from './rules/chat.ts'
import { checkMessagesStream } from './rules/messages.ts'
import { checkResponsesStream } from './rules/responses.ts'

/** An upstream of the same dialect has other model names and ids, and it always reports usage. */
type Names = 'ours' | 'theirs' | 'ours with their ids'

type Endpoint = {
  readonly dialect: CallerFormat
  readonly writer: (names?: Names) => StreamWriter
  readonly check: (text: string, how: 'complete' | 'failed') => void
}

function contextOf(dialect: CallerFormat, names: Names = 'ours'): AnswerContext {
  const gatewayContext = contextIn(dialect, { stream_options: { include_usage: true } })
  if (names === 'ours') return gatewayContext
  const theirIds = { ...gatewayContext, newId: (prefix: string) => gatewayContext.newId(`${prefix}_their`) }
  return names === 'theirs' ? { ...theirIds, id: 'theirs', model: 'upstream-model' } : theirIds
}

const endpoints: readonly Endpoint[] = [
  {
    dialect: 'messages',
    writer: (names) => createMessagesWriter(contextOf('messages', names)),
    check: checkMessagesStream,
  },
  {
    dialect: 'chat',
    writer: (names) => createChatWriter(contextOf('chat', names)),
    check: (text, how) => checkChatStream(text, how, true),
  },
  {
    dialect: 'responses',
    writer: (names) => createResponsesWriter(contextOf('responses', names)),
    check: checkResponsesStream,
  },
]

const fault = new Fault('upstream_failed', 'upstream_error', 'It broke.')

/**
 * The same events with the raw frames that an upstream of this dialect would have sent. The gateway's messages writer delays
 * the start of thinking until its first delta, which no upstream does. Until then the events share one frame. Its writers
 * also hold a block until the one before has closed, so the blocks of these upstreams follow one another.
 */
function upstreamChunks({ dialect, writer }: Endpoint, anyOrder: readonly InferenceEvent[]): Chunk[] {
  const events = inUpstreamOrder({ dialect }, anyOrder)
  const upstream = writer('theirs')
  const chunks: Chunk[] = []
  let emitted: InferenceEvent[] = []
  let frames: RawFrame[] = []
  let delayed = 0
  for (const event of events) {
    const upstreamFrames = readFrames(upstream.write([event]))
    if (dialect === 'messages' && event.type === 'open' && event.part.type === 'thinking') delayed += 1
    delayed -= upstreamFrames.filter(({ data }) => /"content_block":{"type":"(redacted_)?thinking"/.test(data)).length
    emitted.push(event)
    frames.push(...upstreamFrames)
    if (delayed > 0) continue
    chunks.push({ events: emitted, raw: { kind: 'frames', dialect, frames } })
    emitted = []
    frames = []
  }
  return chunks
}

const inUpstreamOrder = ({ dialect }: Pick<Endpoint, 'dialect'>, events: readonly InferenceEvent[]) =>
  dialect === 'chat' ? events : inSequence(events)

/** The end of an answer that a content check stops. */
function cutShort(written: readonly InferenceEvent[]): InferenceEvent[] {
  const grammar = createEventOrder()
  for (const event of written) grammar.accept(event)
  return [...grammar.openBlocks().map(close), end('filtered')]
}

for (const endpoint of endpoints) {
  describe(`the ${endpoint.dialect} stream`, () => {
    const property = (check: (events: InferenceEvent[], at: number) => void) =>
      fc.assert(
        fc.property(anyEvents(endpoint.dialect), fc.nat(), (events, at) => check(events, at % events.length)),
        { numRuns: 200 },
      )

    it('follows the rules for any valid answer, in any number of chunks', () => {
      property((events, at) => {
        const writer = endpoint.writer()
        endpoint.check(writer.write(events.slice(0, at)) + writer.write(events.slice(at)), 'complete')
        assert.ok(writer.hasEnded())
      })
    })

    it('follows the rules if the answer fails anywhere', () => {
      property((events, at) => {
        const writer = endpoint.writer()
        endpoint.check(writer.write(events.slice(0, at)) + writer.fail(fault), 'failed')
        assert.equal(writer.fail(fault), '', 'a failure is said once')
        assert.throws(() => writer.write(events.slice(at)), /Illegal event order/)
      })
    })

    it('follows the rules if raw frames of an upstream are passed through', () => {
      property((events) => {
        const writer = endpoint.writer()
        endpoint.check(
          upstreamChunks(endpoint, events)
            .map((chunk) => writer.forward(chunk))
            .join(''),
          'complete',
        )
      })
    })

    it('passes the upstream’s raw frames through unchanged, and adds nothing', () => {
      property((events) => {
        const writer = endpoint.writer()
        const text = upstreamChunks(endpoint, events)
          .map((chunk) => writer.forward(chunk))
          .join('')
        assert.deepEqual(
          readFrames(text).map(parsed),
          readFrames(endpoint.writer('ours with their ids').write(inUpstreamOrder(endpoint, events))).map(parsed),
        )
      })
    })

    it('follows the rules if a content check stops raw frames', () => {
      property((events, at) => {
        const chunks = upstreamChunks(endpoint, events)
        const kept = chunks.slice(0, 1 + (at % (chunks.length - 1)))
        const writer = endpoint.writer()
        const text = kept.map((chunk) => writer.forward(chunk)).join('')
        endpoint.check(text + writer.write(cutShort(kept.flatMap((chunk) => chunk.events))), 'complete')
      })
    })

    it('follows the rules if the gateway’s own frames continue after raw frames', () => {
      property((events, at) => {
        const writer = endpoint.writer()
        const chunks = upstreamChunks(endpoint, events)
        const text = chunks
          .slice(0, at)
          .map((chunk) => writer.forward(chunk))
          .join('')
        const [changed, ...rest] = chunks.slice(at)
        endpoint.check(
          text + writer.write(changed?.events ?? []) + rest.map((chunk) => writer.forward(chunk)).join(''),
          'complete',
        )
      })
    })

    it('follows the rules if an upstream fails after raw frames', () => {
      property((events, at) => {
        const writer = endpoint.writer()
        const kept = upstreamChunks(endpoint, events).slice(0, -1).slice(0, at)
        endpoint.check(kept.map((chunk) => writer.forward(chunk)).join('') + writer.fail(fault), 'failed')
      })
    })
  })
}

const parsed = ({ event, data }: { event: string | undefined; data: string }) => ({
  event,
  data: data === '[DONE]' ? data : JSON.parse(data),
})
