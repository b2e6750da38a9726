import { foldEvents, type FoldedBlock } from '../../domain/inference/fold.ts'
import { creditFields } from '../credit-fields.ts'
import { freeTextOf, freeTextTools } from '../free-text-tools.ts'
import type { AnswerContext } from '../stream-writer.ts'
import type { WholeAnswer } from '../whole-answer.ts'
import { freeTextCallItem, functionCallItem, messageItem, reasoningItem, refusalPart, textPart } from './items.ts'
import { echoOf, ended, incompleteReason } from './spelling.ts'

/** A whole answer as one response; an upstream's own document keeps every field but its name and its price. */
export function encodeResponses(context: AnswerContext, { events, document }: WholeAnswer): Record<string, unknown> {
  const { blocks, stopReason, end } = foldEvents(events)
  const { id, model } = context
  if (document?.dialect === 'responses') return { ...document.body, id, model, ...creditFields(end) }
  const reason = incompleteReason(
    stopReason,
    blocks.some((block) => block.type === 'refusal'),
  )
  const freeText = freeTextTools(context.request)
  const output = blocks.flatMap((block) => spellBlock(block, context, (name) => freeText.has(name)))
  return { ...ended(context, end, { output, reason }), ...echoOf(context) }
}

function spellBlock(block: FoldedBlock, { newId }: AnswerContext, isFreeText: (name: string) => boolean): unknown[] {
  switch (block.type) {
    case 'text':
      return [messageItem(newId('msg'), 'completed', [textPart(block.text)])]
    case 'refusal':
      return [messageItem(newId('msg'), 'completed', [refusalPart(block.text)])]
    case 'thinking':
      return [reasoningItem(newId('rs'), block.text, block.proof)]
    case 'tool-call':
      if (isFreeText(block.name))
        return [freeTextCallItem(newId('ctc'), 'completed', { ...block, input: freeTextOf(block.input) })]
      return [functionCallItem(newId('fc'), 'completed', { ...block, input: block.input || '{}' })]
    case 'opaque':
      return block.dialect === 'responses' ? [block.raw] : []
  }
}
