import { foldEvents, type FoldedBlock } from '../../domain/inference/fold.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import { freeTextOf, freeTextTools } from '../inference/writing/free-text-tools.ts'
import type { AnswerContext } from '../inference/writing/stream-writer.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import type { WholeAnswer } from '../inference/writing/whole-answer.ts'
import { freeTextCallItem, functionCallItem, messageItem, reasoningItem, refusalPart, textPart } from './items.ts'
import { createCalleeOf, type CalleeOf } from './namespaces.ts'
import { echoOf, ended, incompleteReason } from './format.ts'

/** Encodes a complete answer as one response. The upstream's own document keeps all fields except id, model and cost. */
export function encodeResponses(context: AnswerContext, { events, document }: WholeAnswer): Record<string, unknown> {
  const { blocks, stopReason, end } = foldEvents(events)
  const { id, model } = context
  const reason = incompleteReason(
    stopReason,
    blocks.some((block) => block.type === 'refusal'),
  )
  if (document?.dialect === 'responses') {
    const { body } = document
    const gatewayResponse = ended(context, end, { output: [], reason })
    return {
      ...gatewayResponse,
      ...body,
      id,
      model,
      usage: vendorUsage(body['usage'], gatewayResponse.usage, end.usage),
      ...context.echo,
      ...creditFields(end),
    }
  }
  const freeText = freeTextTools(context.request)
  const calleeOf = createCalleeOf(context.request)
  const output = blocks.flatMap((block) => formatBlock(block, context, { freeText, calleeOf }))
  return { ...ended(context, end, { output, reason }), ...echoOf(context) }
}

type Tools = { readonly freeText: ReadonlySet<string>; readonly calleeOf: CalleeOf }

function formatBlock(block: FoldedBlock, { newId }: AnswerContext, { freeText, calleeOf }: Tools): unknown[] {
  switch (block.type) {
    case 'text':
      return [messageItem(newId('msg'), 'completed', [textPart(block.text, block.citations)])]
    case 'refusal':
      return [messageItem(newId('msg'), 'completed', [refusalPart(block.text)])]
    case 'thinking':
      return [reasoningItem(newId('rs'), block.text, block.signature)]
    case 'tool-call':
      return [formatCall(block, newId, { freeText, calleeOf })]
    case 'opaque':
      return block.dialect === 'responses' ? [block.raw] : []
  }
}

function formatCall(
  { id, name, input }: Extract<FoldedBlock, { type: 'tool-call' }>,
  newId: AnswerContext['newId'],
  { freeText, calleeOf }: Tools,
): unknown {
  const call = { id, ...calleeOf(name) }
  if (freeText.has(name)) return freeTextCallItem(newId('ctc'), 'completed', { ...call, input: freeTextOf(input) })
  return functionCallItem(newId('fc'), 'completed', { ...call, input: input || '{}' })
}
