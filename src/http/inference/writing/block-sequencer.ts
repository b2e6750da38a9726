import type { Citation } from '../../../domain/inference/events.ts'
import type { ReasoningSignature } from '../../../domain/inference/request.ts'
import type { WriteStep } from './stream-writer.ts'

/**
 * Lets one block at a time through. Chat completions interleaves the deltas of parallel tool calls, and the agents of the
 * other dialects expect a block to end before the next one starts. The events of a block that opens while another one is
 * open are held until that one has closed. The text that is held is a part of the response, so `max_answer_bytes` limits it.
 */
export type BlockSequencer = {
  /** Notes a step that is already on the wire. */
  track(step: WriteStep): void
  /** True if the step must not be written yet. */
  hold(step: WriteStep): boolean
  /** The held steps that may follow the block that was closed last. */
  release(): readonly WriteStep[]
}

type HeldBlock = {
  readonly open: Extract<WriteStep, { type: 'open' }>
  text: string
  citations?: Citation[]
  signature: ReasoningSignature | undefined
  isClosed: boolean
}

export function createBlockSequencer(): BlockSequencer {
  const onWire = new Set<number>()
  /** In the order in which the blocks opened. */
  const held = new Map<number, HeldBlock>()

  function track(step: WriteStep): void {
    if (step.type === 'open') onWire.add(step.block)
    else if (step.type === 'close') onWire.delete(step.block)
  }

  return {
    track,
    hold(step) {
      if (step.type === 'open' && onWire.size > 0) {
        held.set(step.block, { open: step, text: '', signature: undefined, isClosed: false })
        return true
      }
      const block = held.size === 0 || step.type === 'start' ? undefined : held.get(step.block)
      if (block === undefined) {
        track(step)
        return false
      }
      if (step.type === 'delta') block.text += step.text
      else if (step.type === 'citation') (block.citations ??= []).push(step.citation)
      else if (step.type === 'signature') block.signature = step.signature
      else if (step.type === 'close') block.isClosed = true
      return true
    },
    release() {
      if (held.size === 0 || onWire.size > 0) return none
      const steps: WriteStep[] = []
      for (const [number, block] of held) {
        held.delete(number)
        steps.push(...stepsOf(block))
        if (block.isClosed) continue
        onWire.add(number)
        break
      }
      return steps
    },
  }
}

const none: readonly never[] = []

function stepsOf({ open, text, citations = [], signature, isClosed }: HeldBlock): WriteStep[] {
  const { block } = open
  const steps: WriteStep[] = [open]
  if (text !== '') steps.push({ type: 'delta', block, text })
  for (const citation of citations) steps.push({ type: 'citation', block, citation })
  if (signature !== undefined) steps.push({ type: 'signature', block, signature })
  if (isClosed) steps.push({ type: 'close', block })
  return steps
}
