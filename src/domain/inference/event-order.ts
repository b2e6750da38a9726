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

export const createEventOrder = (): EventOrder => new Grammar()

/**
 * The grammar of `events.ts` as a state machine: one `start`; blocks numbered without gaps; deltas, citations and signatures
 * only for open blocks of a matching kind; one `end` after all blocks are closed. A class, because an object with its own
 * closures would cost every response more memory.
 */
class Grammar implements EventOrder {
  readonly open = new Map<number, OpenBlock>()
  phase: 'before' | 'running' | 'ended' = 'before'
  nextBlock = 0

  accept(event: InferenceEvent): void {
    if (event.type === 'start') {
      if (this.phase !== 'before') violation('a second start')
      this.phase = 'running'
      return
    }
    if (this.phase !== 'running')
      violation(`${event.type} ${this.phase === 'before' ? 'before the start' : 'after the end'}`)
    switch (event.type) {
      case 'open':
        return this.acceptOpen(event.block, event.part)
      case 'delta': {
        const block = this.blockOf(event)
        if (block.type === 'opaque' || block.isSigned) violation(`delta into block ${event.block}, which takes none`)
        return
      }
      case 'citation':
        if (this.blockOf(event).type !== 'text') violation(`citation for block ${event.block}, which takes none`)
        return
      case 'signature': {
        const block = this.blockOf(event)
        if (block.type !== 'thinking' || block.isSigned)
          violation(`signature for block ${event.block}, which takes none`)
        block.isSigned = true
        return
      }
      case 'close':
        this.blockOf(event)
        this.open.delete(event.block)
        return
      case 'end':
        if (this.open.size > 0) violation(`end while block ${this.openBlocks().join(', ')} is open`)
        this.phase = 'ended'
    }
  }

  acceptOpen(block: number, part: BlockStart): void {
    if (block !== this.nextBlock) violation(`block ${block} opens where ${this.nextBlock} is next`)
    this.nextBlock += 1
    this.open.set(block, { type: part.type, isSigned: false })
  }

  blockOf(event: { readonly type: string; readonly block: number }): OpenBlock {
    return this.open.get(event.block) ?? violation(`${event.type} for block ${event.block}, which is not open`)
  }

  openBlocks(): readonly number[] {
    return [...this.open.keys()]
  }

  hasEnded(): boolean {
    return this.phase === 'ended'
  }
}

function violation(reason: string): never {
  throw new Error(`Illegal event order: ${reason}.`)
}
