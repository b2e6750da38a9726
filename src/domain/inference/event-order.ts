import type { BlockStart, InferenceEvent } from './events.ts'

/** Follows one answer event by event. Whoever writes a bad list has a bug, so the breach is an Error and no Fault. */
export type EventOrder = {
  /** Throws at the first event that may not stand where it stands. */
  accept(event: InferenceEvent): void
  /** The blocks that are open now, in the order in which they opened. */
  openBlocks(): readonly number[]
  /** True from the accepted `end` on: nothing may follow. */
  hasEnded(): boolean
}

type OpenBlock = { readonly type: BlockStart['type']; proven: boolean }

/**
 * The rules of `events.ts` as a machine: one start, blocks numbered without gaps, deltas and proofs only into open
 * blocks that can take them, one end once all blocks are closed.
 */
export function createEventOrder(): EventOrder {
  const open = new Map<number, OpenBlock>()
  let phase: 'before' | 'running' | 'ended' = 'before'
  let nextBlock = 0

  const blockOf = (event: { readonly type: string; readonly block: number }): OpenBlock =>
    open.get(event.block) ?? breach(`${event.type} for block ${event.block}, which is not open`)

  const acceptOpen = (block: number, part: BlockStart): void => {
    if (block !== nextBlock) breach(`block ${block} opens where ${nextBlock} is next`)
    nextBlock += 1
    open.set(block, { type: part.type, proven: false })
  }

  return {
    accept(event) {
      if (event.type === 'start') {
        if (phase !== 'before') breach('a second start')
        phase = 'running'
        return
      }
      if (phase !== 'running') breach(`${event.type} ${phase === 'before' ? 'before the start' : 'after the end'}`)
      switch (event.type) {
        case 'open':
          return acceptOpen(event.block, event.part)
        case 'delta': {
          const block = blockOf(event)
          if (block.type === 'opaque' || block.proven) breach(`delta into block ${event.block}, which takes none`)
          return
        }
        case 'proof': {
          const block = blockOf(event)
          if (block.type !== 'thinking' || block.proven) breach(`proof for block ${event.block}, which takes none`)
          block.proven = true
          return
        }
        case 'close':
          blockOf(event)
          open.delete(event.block)
          return
        case 'end':
          if (open.size > 0) breach(`end while block ${[...open.keys()].join(', ')} is open`)
          phase = 'ended'
      }
    },
    openBlocks: () => [...open.keys()],
    hasEnded: () => phase === 'ended',
  }
}

function breach(what: string): never {
  throw new Error(`Not a legal answer: ${what}.`)
}
