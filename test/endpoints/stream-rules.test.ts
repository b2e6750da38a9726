import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../src/base/fault.ts'
import type { InferenceEvent, RawFrame, Chunk } from '../../src/domain/inference/events.ts'
import { createEventOrder } from '../../src/domain/inference/event-order.ts'
import type { Dialect } from '../../src/domain/inference/request.ts'
import { createChatWriter } from '../../src/http/chat/stream-writer.ts'
import { createMessagesWriter } from '../../src/http/messages/stream-writer.ts'
import { createResponsesWriter } from '../../src/http/responses/stream-writer.ts'
import type { AnswerContext, StreamWriter } from '../../src/http/inference/writing/stream-writer.ts'
import { anyEvents, close, contextIn, end } from '../support/answers.ts'
import { readFrames } from '../support/sse-server.ts'
import { checkChatStream } from './rules/chat.ts'
import { checkMessagesStream } from './rules/messages.ts'
import { checkResponsesStream } from './rules/responses.ts'

/** An upstream of the same dialect goes by other names and gives its items other ids, and it always counts. */
type Names = 'ours' | 'theirs' | 'ours with their ids'

type Endpoint = {
  readonly dialect: Dialect
  readonly writer: (names?: Names) => StreamWriter
  readonly check: (text: string, how: 'complete' | 'failed') => void
}

function contextOf(dialect: Dialect, names: Names = 'ours'): AnswerContext {
  const ours = contextIn(dialect, { stream_options: { include_usage: true } })
  if (names === 'ours') return ours
  const theirIds = { ...ours, newId: (prefix: string) => ours.newId(`${prefix}_their`) }
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
 * The same events with the frames in which an upstream of this dialect would have said them. Our messages writer keeps
 * the start of thinking back until its first word, which no upstream does: until then the events go together.
 */
function upstreamChunks({ dialect, writer }: Endpoint, events: readonly InferenceEvent[]): Chunk[] {
  const upstream = writer('theirs')
  const chunks: Chunk[] = []
  let said: InferenceEvent[] = []
  let frames: RawFrame[] = []
  let keptBack = 0
  for (const event of events) {
    const spoken = readFrames(upstream.write([event]))
    if (dialect === 'messages' && event.type === 'open' && event.part.type === 'thinking') keptBack += 1
    keptBack -= spoken.filter(({ data }) => /"content_block":{"type":"(redacted_)?thinking"/.test(data)).length
    said.push(event)
    frames.push(...spoken)
    if (keptBack > 0) continue
    chunks.push({ events: said, raw: { kind: 'frames', dialect, frames } })
    said = []
    frames = []
  }
  return chunks
}

/** What a check does when it cuts an answer short. */
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

    it('keeps the rules for any legal answer, in however many chunks it comes', () => {
      property((events, at) => {
        const writer = endpoint.writer()
        endpoint.check(writer.write(events.slice(0, at)) + writer.write(events.slice(at)), 'complete')
        assert.ok(writer.hasEnded())
      })
    })

    it('keeps the rules when the answer fails anywhere', () => {
      property((events, at) => {
        const writer = endpoint.writer()
        endpoint.check(writer.write(events.slice(0, at)) + writer.fail(fault), 'failed')
        assert.equal(writer.fail(fault), '', 'a failure is said once')
        assert.throws(() => writer.write(events.slice(at)), /Illegal event order/)
      })
    })

    it('keeps the rules when an upstream speaks for itself', () => {
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

    it('passes on what the upstream said and nothing else', () => {
      property((events) => {
        const writer = endpoint.writer()
        const text = upstreamChunks(endpoint, events)
          .map((chunk) => writer.forward(chunk))
          .join('')
        assert.deepEqual(
          readFrames(text).map(parsed),
          readFrames(endpoint.writer('ours with their ids').write(events)).map(parsed),
        )
      })
    })

    it('keeps the rules when a check cuts an upstream short', () => {
      property((events, at) => {
        const chunks = upstreamChunks(endpoint, events)
        const kept = chunks.slice(0, 1 + (at % (chunks.length - 1)))
        const writer = endpoint.writer()
        const text = kept.map((chunk) => writer.forward(chunk)).join('')
        endpoint.check(text + writer.write(cutShort(kept.flatMap((chunk) => chunk.events))), 'complete')
      })
    })

    it('keeps the rules when we go on in our own words where an upstream stopped', () => {
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

    it('keeps the rules when an upstream fails after speaking for itself', () => {
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
