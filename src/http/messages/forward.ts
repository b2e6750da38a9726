import type { OriginalFrame } from '../../domain/inference/events.ts'
import { frameObject, frameType, recordAt, sameFrame, sseFrame, type AnswerContext } from '../stream-writer.ts'

type Fields = Record<string, unknown>

/** Passes on an upstream's events under our id and the caller's name for the model, and keeps the ending back. */
export type Forwarding = {
  frame(frame: OriginalFrame): string
  /** The upstream's own ending, where it is still how the answer ends: it holds more than ours can. */
  ending(ours: Ending, isForwarded: boolean): Fields | undefined
}

export type Ending = {
  readonly delta: { readonly stop_reason: string }
  readonly usage: Readonly<Record<string, unknown>>
}

export function createForwarding({ id, model }: AnswerContext): Forwarding {
  let last: Fields | undefined
  let hasStart = false
  return {
    frame(frame) {
      const type = frameType(frame)
      switch (type) {
        case 'message_start':
          if (hasStart) return '' // a second one breaks clients
          hasStart = true
          return renamedStart(frameObject(frame.data), { id, model })
        case 'message_delta':
          last = merged(last, frameObject(frame.data))
          return ''
        case 'message_stop': // written after the price
        case 'error': // arrives as a thrown Fault
          return ''
        default:
          return sameFrame({ event: type, data: frame.data })
      }
    },
    ending({ delta, usage }, isForwarded) {
      const own = recordAt(last, 'delta')
      if (last === undefined || !(isForwarded || own['stop_reason'] === delta.stop_reason)) return undefined
      // An upstream that called a tool and only says that it stopped is corrected; any other word is its own.
      const corrected = delta.stop_reason === 'tool_use' ? { ...own, stop_reason: 'tool_use' } : own
      return { ...last, delta: corrected, usage: { ...usage, ...recordAt(last, 'usage') } }
    },
  }
}

const renamedStart = (start: Fields, names: { id: string; model: string }): string =>
  sseFrame('message_start', JSON.stringify({ ...start, message: { ...recordAt(start, 'message'), ...names } }))

/** An upstream may send its ending in parts; counts are cumulative, so the last one holds. */
const merged = (first: Fields | undefined, next: Fields): Fields => ({
  ...first,
  ...next,
  delta: { ...recordAt(first, 'delta'), ...recordAt(next, 'delta') },
  usage: { ...recordAt(first, 'usage'), ...recordAt(next, 'usage') },
})
