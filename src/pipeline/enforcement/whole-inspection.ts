import { andThen, every, type MaybePromise } from '../../base/maybe-promise.ts'
import { evaluateBlock } from '../../domain/evaluation/stream/evaluate-block.ts'
import { requiredCoverage, type ResponseCoverage } from '../../domain/evaluation/stream/hold-back-policy.ts'
import type { Decision } from '../../domain/evaluation/verdict/combine.ts'
import type { BlockStart, Chunk } from '../../domain/inference/events.ts'
import { withText } from './hold-back-buffer.ts'
import { createSettleBlock, textIn, wholeBlockOf } from './response-block.ts'
import type { BlockScannersParts } from './block-scanners.ts'

/** What the rules decide on a response that arrived complete. */
export type InspectedResponse = {
  /** The response as it may be sent; undefined if it is denied. */
  readonly allowed: Chunk | undefined
  readonly decisions: readonly Decision[]
  readonly coverage: ResponseCoverage
}

type Block = { readonly number: number; readonly part: BlockStart; text: string }

/** Evaluates the blocks of a complete response in the order in which they end, up to the first that is denied. */
export function inspectWhole(response: Chunk, parts: BlockScannersParts): MaybePromise<InspectedResponse> {
  const decisions: Decision[] = []
  let chunk = response
  let coverage = requiredCoverage(parts.holdBack)
  const settle = createSettleBlock(parts.rephrase, decisions, (block, text) => (chunk = withText(chunk, block, text)))

  function isAllowed({ part, number, text }: Block): MaybePromise<boolean> {
    return andThen(evaluateBlock(parts, text, wholeBlockOf(part)), ({ evaluation, wasHeldWhole }) => {
      if (wasHeldWhole()) coverage = 'whole'
      return settle(evaluation, part, number)
    })
  }

  return andThen(every(blocksOf(response), isAllowed), (areAllowed) => ({
    allowed: areAllowed ? chunk : undefined,
    decisions,
    coverage,
  }))
}

/** The blocks with their texts. The event order closes every block before the end; one that it left open is not skipped. */
function blocksOf({ events }: Chunk): readonly Block[] {
  const open = new Map<number, Block>()
  const closed: Block[] = []
  for (const event of events) {
    if (event.type === 'start' || event.type === 'end') continue
    if (event.type === 'open') open.set(event.block, { number: event.block, part: event.part, text: '' })
    const block = open.get(event.block)
    if (block === undefined) continue
    block.text += textIn(event) ?? ''
    if (event.type !== 'close') continue
    closed.push(block)
    open.delete(event.block)
  }
  return open.size === 0 ? closed : [...closed, ...open.values()]
}
