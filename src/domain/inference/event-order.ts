import type { BlockStart, InferenceEvent } from './events.ts'

/** Checks the event order of one response. A violation is a bug in the producer, so it is an `Error`, not a `Fault`. */
export type EventOrder = {
  /** Throws if the event is not allowed at this position. */
  accept(event: InferenceEvent): void
  /** The numbers of the open blocks, in the order in which they opened. */
  openBlocks(): readonly number[]
  /** True once `end` was accepted. No event may follow. */
  hasEnded(): boolean
}

type OpenBlock = { readonly type: BlockStart['type']; isSigned: boolean }

/**
 * The grammar of `events.ts` as a state machine: one `start`; blocks numbered without gaps; deltas, citations and signatures
 * only for open blocks of a matching kind; one `end` after all blocks are closed.
 */
export function createEventOrder(): EventOrder {
  const open = new Map<number, OpenBlock>()
  let phase: 'before' | 'running' | 'ended' = 'before'
  let nextBlock = 0

  const blockOf = (event: { readonly type: string; readonly block: number }): OpenBlock =>
    open.get(event.block) ?? violation(`${event.type} for block ${event.block}, which is not open`)

  const acceptOpen = (block: number, part: BlockStart): void => {
    if (block !== nextBlock) violation(`block ${block} opens where ${nextBlock} is next`)
    nextBlock += 1
    open.set(block, { type: part.type, isSigned: false })
  }

  return {
    accept(event) {
      if (event.type === 'start') {
        if (phase !== 'before') violation('a second start')
        phase = 'running'
        return
      }
      if (phase !== 'running') violation(`${event.type} ${phase === 'before' ? 'before the start' : 'after the end'}`)
      switch (event.type) {
        case 'open':
          return acceptOpen(event.block, event.part)
        case 'delta': {
          const block = blockOf(event)
          if (block.type === 'opaque' || block.isSigned) violation(`delta into block ${event.block}, which takes none`)
          return
        }
        case 'citation':
          if (blockOf(event).type !== 'text') violation(`citation for block ${event.block}, which takes none`)
          return
        case 'signature': {
          const block = blockOf(event)
          if (block.type !== 'thinking' || block.isSigned)
            violation(`signature for block ${event.block}, which takes none`)
          block.isSigned = true
          return
        }
        case 'close':
          blockOf(event)
          open.delete(event.block)
          return
        case 'end':
          if (open.size > 0) violation(`end while block ${[...open.keys()].join(', ')} is open`)
          phase = 'ended'
      }
    },
    openBlocks: () => [...open.keys()],
    hasEnded: () => phase === 'ended',
  }
}

function violation(reason: string): never {
  throw new Error(`Illegal event order: ${reason}.`)
}
