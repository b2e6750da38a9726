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

/** Which content blocks the caller has seen begin, by index, and which of them have not ended. */
export type Wire = { nextIndex: number; readonly open: Set<number> }

/** Passes on an upstream's events under our id and the caller's name for the model, and keeps the ending back. */
export type MessagesPassthrough = {
  frame(frame: RawFrame): string
  /** The index at which the upstream began the block for this part. It may begin blocks that no event tells of. */
  claim(part: BlockStart): number | undefined
  /** Called after each piece: a block that ended without an event will never have one. */
  forgetEnded(): void
  /** The upstream's own ending, where it is still how the answer ends: it holds more than ours can. */
  ending(ours: MessagesEnding, isForwarded: boolean): Fields | undefined
}

export type MessagesEnding = { readonly delta: { readonly stop_reason: string } }

/** `wire` is shared with the writer, so that it can go on where the upstream stopped. */
export function createMessagesPassthrough(context: AnswerContext, wire: Wire): MessagesPassthrough {
  let unclaimed: { readonly index: number; readonly type: BlockStart['type'] }[] = []
  let last: Fields | undefined
  let hasStart = false

  const noteStart = (event: Fields): void => {
    const index = indexOf(event)
    wire.nextIndex = Math.max(wire.nextIndex, index + 1)
    wire.open.add(index)
    const type = String(recordAt(event, 'content_block')['type'])
    // A redacted block is complete with its start: nothing of ours can go into it.
    if (type !== 'redacted_thinking') unclaimed.push({ index, type: partTypes[type] ?? 'opaque' })
  }

  return {
    frame(frame) {
      const type = frameType(frame)
      switch (type) {
        case 'message_start':
          if (hasStart) return '' // a second one breaks clients
          hasStart = true
          return renamedStart(frameObject(frame.data), context)
        case 'message_delta':
          last = merged(last, frameObject(frame.data))
          return ''
        case 'content_block_start':
          noteStart(frameObject(frame.data))
          break
        case 'content_block_stop':
          wire.open.delete(indexOf(frameObject(frame.data)))
          break
        case 'content_block_delta':
        case 'ping':
          break
        default:
          // The stop is written after the price, an error arrives as a thrown Fault; at all else some clients fail.
          return ''
      }
      return sameFrame({ event: type, data: frame.data })
    },
    claim(part) {
      const at = unclaimed.findIndex(({ type }) => type === part.type)
      return at === -1 ? undefined : unclaimed.splice(at, 1)[0]?.index
    },
    forgetEnded() {
      unclaimed = unclaimed.filter(({ index }) => wire.open.has(index))
    },
    ending({ delta }, isForwarded) {
      const own = recordAt(last, 'delta')
      if (last === undefined || !(isForwarded || own['stop_reason'] === delta.stop_reason)) return undefined
      // An upstream that called a tool and only says that it stopped is corrected; any other word is its own.
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
  // No prompt has no tokens: some servers send zeros where they do not count.
  const isCounted = inputCounts.some((name) => Number(usage[name]) > 0)
  const counts = isCounted ? usage : { ...usage, input_tokens: estimateInputTokens(request) }
  return sseFrame('message_start', JSON.stringify({ ...start, message: { ...message, id, model, usage: counts } }))
}

const inputCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']

/** An upstream may send its ending in parts; counts are cumulative, so the last one holds. */
const merged = (first: Fields | undefined, next: Fields): Fields => ({
  ...first,
  ...next,
  delta: { ...recordAt(first, 'delta'), ...recordAt(next, 'delta') },
  usage: { ...recordAt(first, 'usage'), ...recordAt(next, 'usage') },
})
