import { isRecord } from '../../base/record.ts'
import { foldEvents, type FoldedBlock } from '../../domain/inference/fold.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import { signatureText } from '../inference/signature-envelope.ts'
import type { AnswerContext } from '../inference/writing/stream-writer.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import type { WholeAnswer } from '../inference/writing/whole-answer.ts'
import { formatStop, formatMessagesUsage } from './format.ts'

/** A whole answer as one message; an upstream's own message keeps every field but its name and its price. */
export function encodeMessages(
  { id, model }: AnswerContext,
  { events, document }: WholeAnswer,
): Record<string, unknown> {
  const { blocks, stopReason, end } = foldEvents(events)
  const envelope = { id, type: 'message', role: 'assistant', model }
  const usage = formatMessagesUsage(end.usage)
  if (document?.dialect === 'messages') {
    const { body } = document
    const { stop_reason: ours } = formatStop(stopReason, end)
    // An upstream that called a tool and only says that it stopped is corrected; any other word is its own.
    const stop = {
      stop_sequence: null,
      ...body,
      stop_reason: ours === 'tool_use' ? ours : (body['stop_reason'] ?? ours),
    }
    const counts = vendorUsage(body['usage'], usage, end.usage)
    return { ...envelope, ...stop, id, model, usage: counts, ...creditFields(end) }
  }
  return {
    ...envelope,
    content: blocks.flatMap(spellBlock),
    ...formatStop(stopReason, end),
    usage,
    ...creditFields(end),
  }
}

function spellBlock(block: FoldedBlock): unknown[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: block.text }]
    case 'thinking':
      return [spellThinking(block)]
    case 'tool-call':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: inputOf(block.input) }]
    case 'opaque':
      return block.dialect === 'messages' ? [block.raw] : []
  }
}

function spellThinking({ text, signature: proof }: Extract<FoldedBlock, { type: 'thinking' }>): unknown {
  const signature = proof === undefined ? '' : signatureText(proof, 'messages')
  return proof?.redacted === true && text === ''
    ? { type: 'redacted_thinking', data: signature }
    : { type: 'thinking', thinking: text, signature }
}

/** This dialect wants an object; what the model wrote instead is kept, so that the history can be replayed. */
function inputOf(json: string): Record<string, unknown> {
  if (json === '') return {}
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : { _raw: json }
  } catch {
    return { _raw: json }
  }
}
