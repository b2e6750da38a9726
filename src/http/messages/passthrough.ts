import { estimateInputTokens } from '../../domain/inference/count.ts'
import type { BlockStart, RawFrame } from '../../domain/inference/events.ts'
import {
  frameObject,
  frameType,
  recordAt,
  sameFrame,
  sseFrame,
  type AnswerContext,
} from '../inference/writing/stream-writer.ts'

type Fields = Record<string, unknown>

/** The next block index on the wire, and the indexes of the blocks that have started but not ended. */
export type Wire = { nextIndex: number; readonly open: Set<number> }

/** Passes an upstream's events through with the gateway's id and the caller's model name. Holds the ending back until the cost is known. */
export type MessagesPassthrough = {
  frame(frame: RawFrame): string
  /** The index of the block that the upstream started for this part. Upstreams may start blocks without an event. */
  claim(part: BlockStart): number | undefined
  /** Called after each chunk, because a block that ended without an event will never have one. */
  dropEnded(): void
  /** The upstream's own ending, if the answer still ends that way. It may have more fields than the gateway's. */
  ending(own: MessagesEnding, isPassthrough: boolean): Fields | undefined
}

export type MessagesEnding = { readonly delta: { readonly stop_reason: string } }

/** `wire` is shared with the writer, which continues after the upstream's frames if a check stops the stream. */
export function createMessagesPassthrough(context: AnswerContext, wire: Wire): MessagesPassthrough {
  let unclaimed: { readonly index: number; readonly type: BlockStart['type'] }[] = []
  let last: Fields | undefined
  let hasStart = false

  const trackStart = (event: Fields): void => {
    const index = indexOf(event)
    wire.nextIndex = Math.max(wire.nextIndex, index + 1)
    wire.open.add(index)
    const type = String(recordAt(event, 'content_block')['type'])
    // A redacted block is complete with its start, so no later event can belong to it.
    if (type !== 'redacted_thinking') unclaimed.push({ index, type: partTypes[type] ?? 'opaque' })
  }

  return {
    frame(frame) {
      const type = frameType(frame)
      switch (type) {
        case 'message_start':
          // Some servers repeat it, which breaks clients.
          if (hasStart) return ''
          hasStart = true
          return renamedStart(frameObject(frame.data), context)
        case 'message_delta':
          last = merged(last, frameObject(frame.data))
          return ''
        case 'content_block_start':
          trackStart(frameObject(frame.data))
          break
        case 'content_block_stop':
          wire.open.delete(indexOf(frameObject(frame.data)))
          break
        case 'content_block_delta':
        case 'ping':
          break
        default:
          // `message_stop` is written after the cost, the provider throws errors, and unknown events break some clients.
          return ''
      }
      return sameFrame({ event: type, data: frame.data })
    },
    claim(part) {
      const at = unclaimed.findIndex(({ type }) => type === part.type)
      return at === -1 ? undefined : unclaimed.splice(at, 1)[0]?.index
    },
    dropEnded() {
      unclaimed = unclaimed.filter(({ index }) => wire.open.has(index))
    },
    ending({ delta }, isPassthrough) {
      const own = recordAt(last, 'delta')
      if (last === undefined || !(isPassthrough || own['stop_reason'] === delta.stop_reason)) return undefined
      // Some upstreams report a plain stop after a tool call. That is corrected; other stop reasons are kept.
      const corrected = delta.stop_reason === 'tool_use' ? { ...own, stop_reason: 'tool_use' } : own
      return { ...last, delta: corrected }
    },
  }
}

const partTypes: Readonly<Record<string, BlockStart['type']>> = {
  text: 'text',
  thinking: 'thinking',
  tool_use: 'tool-call',
}

const indexOf = ({ index }: Fields): number => (typeof index === 'number' ? index : 0)

function renamedStart(start: Fields, { id, model, request }: AnswerContext): string {
  const message = recordAt(start, 'message')
  const usage = recordAt(message, 'usage')
  // Some servers send zeros because they do not count tokens.
  const isCounted = inputCounts.some((name) => Number(usage[name]) > 0)
  const counts = isCounted ? usage : { ...usage, input_tokens: estimateInputTokens(request) }
  return sseFrame('message_start', JSON.stringify({ ...start, message: { ...message, id, model, usage: counts } }))
}

const inputCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']

/** An upstream may send its ending in parts. Counts are cumulative, so the last one is final. */
const merged = (first: Fields | undefined, next: Fields): Fields => ({
  ...first,
  ...next,
  delta: { ...recordAt(first, 'delta'), ...recordAt(next, 'delta') },
  usage: { ...recordAt(first, 'usage'), ...recordAt(next, 'usage') },
})
