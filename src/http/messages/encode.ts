import { isRecord } from '../../base/record.ts'
import { foldEvents, type FoldedBlock } from '../../domain/inference/fold.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import { signatureText } from '../inference/signature-envelope.ts'
import type { AnswerContext } from '../inference/writing/stream-writer.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import type { WholeAnswer } from '../inference/writing/whole-answer.ts'
import { formatCitation, formatStop, formatMessagesUsage } from './format.ts'

/** Encodes a complete answer as one message. The upstream's own message keeps all fields except id, model and cost. */
export function encodeMessages(
  { id, model }: AnswerContext,
  { events, document }: WholeAnswer,
): Record<string, unknown> {
  const { blocks, stopReason, end } = foldEvents(events)
  const envelope = { id, type: 'message', role: 'assistant', model }
  const usage = formatMessagesUsage(end.usage)
  if (document?.dialect === 'messages') {
    const { body } = document
    const { stop_reason: expected } = formatStop(stopReason, end)
    // Some upstreams report a plain stop after a tool call. That is corrected; other stop reasons are kept.
    const stop = {
      stop_sequence: null,
      ...body,
      stop_reason: expected === 'tool_use' ? expected : (body['stop_reason'] ?? expected),
    }
    const counts = vendorUsage(body['usage'], usage, end.usage)
    return { ...envelope, ...stop, id, model, usage: counts, ...creditFields(end) }
  }
  return {
    ...envelope,
    content: blocks.flatMap(formatBlock),
    ...formatStop(stopReason, end),
    usage,
    ...creditFields(end),
  }
}

function formatBlock(block: FoldedBlock): unknown[] {
  switch (block.type) {
    case 'text': {
      const { text, citations } = block
      return [{ type: 'text', text, ...(citations && { citations: citations.map(formatCitation) }) }]
    }
    case 'refusal':
      return [{ type: 'text', text: block.text }]
    case 'thinking':
      return [formatThinking(block)]
    case 'tool-call':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: inputOf(block.input) }]
    case 'opaque':
      return block.dialect === 'messages' ? [block.raw] : []
  }
}

function formatThinking({ text, signature }: Extract<FoldedBlock, { type: 'thinking' }>): unknown {
  const encoded = signature === undefined ? '' : signatureText(signature, 'messages')
  return signature?.redacted === true && text === ''
    ? { type: 'redacted_thinking', data: encoded }
    : { type: 'thinking', thinking: text, signature: encoded }
}

/** This dialect requires an object. Invalid JSON of the model is kept in `_raw`, so that the history can be replayed. */
function inputOf(json: string): Record<string, unknown> {
  if (json === '') return {}
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : { _raw: json }
  } catch {
    return { _raw: json }
  }
}
