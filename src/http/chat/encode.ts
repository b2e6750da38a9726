import { isRecord } from '../../base/record.ts'
import { foldEvents, type FoldedBlock } from '../../domain/inference/fold.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import { freeTextOf, freeTextTools } from '../inference/writing/free-text-tools.ts'
import type { AnswerContext } from '../inference/writing/stream-writer.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import type { WholeAnswer } from '../inference/writing/whole-answer.ts'
import { formatAnnotation, formatFinish, formatChatUsage } from './format.ts'

/** Encodes a complete answer as one completion. The upstream's own document keeps all fields except id, model and cost. */
export function encodeChat(context: AnswerContext, { events, document }: WholeAnswer): Record<string, unknown> {
  const { blocks, stopReason, end } = foldEvents(events)
  const { id, model, createdAtSeconds } = context
  const envelope = { id, object: 'chat.completion', created: createdAtSeconds }
  const usage = formatChatUsage(end.usage)
  if (document?.dialect === 'chat' && !context.usesFunctions) {
    const { body } = document
    return {
      ...envelope,
      ...body,
      id,
      model,
      usage: vendorUsage(body['usage'], usage, end.usage),
      ...creditFields(end),
    }
  }
  const finish = formatFinish(
    stopReason,
    blocks.some((block) => block.type === 'refusal'),
    context.usesFunctions,
  )
  return {
    ...envelope,
    model,
    choices: [
      {
        index: 0,
        message: formatMessage(blocks, context),
        logprobs: null,
        finish_reason: finish,
      },
    ],
    usage,
    ...creditFields(end),
  }
}

function formatMessage(blocks: readonly FoldedBlock[], { request, usesFunctions }: AnswerContext) {
  const freeText = freeTextTools(request)
  const thinking = joined(blocks, 'thinking')
  const calls = blocks.flatMap((block) => formatCall(block, freeText))
  const annotations = formatCitations(blocks)
  return {
    role: 'assistant',
    content: joined(blocks, 'text'),
    refusal: joined(blocks, 'refusal'),
    ...(annotations.length > 0 && { annotations }),
    ...(thinking && { reasoning_content: thinking }),
    ...(usesFunctions ? functionCallOf(blocks) : calls.length > 0 && { tool_calls: calls }),
  }
}

/** The older form has one call per answer, so further calls are left out. */
function functionCallOf(blocks: readonly FoldedBlock[]): { function_call?: object } {
  const call = blocks.find((block) => block.type === 'tool-call')
  return call === undefined ? {} : { function_call: { name: call.name, arguments: call.input || '{}' } }
}

/** This dialect has one text of each kind, so the texts of all blocks are joined. */
function joined(blocks: readonly FoldedBlock[], type: 'text' | 'thinking' | 'refusal'): string | null {
  const texts = blocks.flatMap((block) => (block.type === type ? [block.text] : []))
  return texts.length === 0 ? null : texts.join('')
}

/** The indexes of a citation count from the start of the joined text. */
function formatCitations(blocks: readonly FoldedBlock[]): unknown[] {
  const annotations: unknown[] = []
  let offset = 0
  for (const block of blocks) {
    if (block.type !== 'text') continue
    const { length } = block.text
    for (const citation of block.citations ?? []) annotations.push(formatAnnotation(citation, { offset, length }))
    offset += length
  }
  return annotations
}

function formatCall(block: FoldedBlock, freeText: ReadonlySet<string>): unknown[] {
  if (block.type === 'opaque') return block.dialect === 'chat' && isRecord(block.raw) ? [block.raw] : []
  if (block.type !== 'tool-call') return []
  const { id, name, input } = block
  if (freeText.has(name)) return [{ id, type: 'custom', custom: { name, input: freeTextOf(input) } }]
  return [{ id, type: 'function', function: { name, arguments: input || '{}' } }]
}
