import { isEnvelope } from '../inference/signature-envelope.ts'
import type { CountTokensBody, MessagesBlock, MessagesBody } from './schema.ts'

type AnyBody = CountTokensBody & Pick<MessagesBody, 'flagged_categories'>

/**
 * The caller's body for an upstream of the same dialect: unchanged, without the fields that are for the gateway only.
 * That is our own field, the edit that says what we do anyway, and thinking whose proof the upstream did not make.
 */
export function withoutGatewayFields(body: AnyBody): Readonly<Record<string, unknown>> {
  const { context_management: management, ...rest } = body
  delete rest.flagged_categories
  const edits = management?.edits?.filter((edit) => edit.type !== 'clear_thinking_20251015' || edit.keep !== 'all')
  const keepsEdits = management && (edits === undefined || edits.length > 0)
  return {
    ...rest,
    messages: body.messages.map(withoutForeignThinking),
    ...(keepsEdits && { context_management: { ...management, ...(edits && { edits }) } }),
  }
}

type AnyMessage = CountTokensBody['messages'][number]

function withoutForeignThinking(message: AnyMessage): AnyMessage {
  const { content } = message
  if (message.role !== 'assistant' || typeof content === 'string' || !content.some(isForeign)) return message
  return { ...message, content: content.filter((block) => !isForeign(block)) }
}

function isForeign(block: MessagesBlock): boolean {
  if (block.type === 'redacted_thinking') return isEnvelope(block.data)
  return block.type === 'thinking' && (!block.signature || isEnvelope(block.signature))
}
