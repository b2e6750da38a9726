import type { Message, ContentPart } from '../../../domain/inference/request.ts'
import { freeTextAsFunction } from './free-text-tools.ts'

/** Consecutive messages of one role, merged. */
export type Turn = { readonly role: Message['role']; readonly parts: ContentPart[] }

/**
 * The conversation in a form that every vendor accepts: consecutive messages of one role are one turn, and every tool call
 * has its result in the next user turn. A call without a result gets the placeholder `[no result]`. A result without a
 * call is dropped.
 */
export function turnsOf(messages: readonly Message[], onDropped: (what: string) => void): Turn[] {
  const turns: Turn[] = []
  const openCalls = new Set<string>()
  let reply: Turn | undefined
  /** System turns between a call and its result. They are moved after the result. */
  let deferred: Turn[] = []

  const closeCalls = (): void => {
    if (openCalls.size > 0) {
      if (reply === undefined) turns.push((reply = { role: 'user', parts: [] }))
      reply.parts.unshift(...Array.from(openCalls, noResult))
    }
    turns.push(...deferred)
    openCalls.clear()
    reply = undefined
    deferred = []
  }

  const addReply = (parts: readonly ContentPart[]): void => {
    const hasOpenCalls = openCalls.size > 0
    const kept = parts.filter((part) => part.type !== 'tool-result' || openCalls.delete(part.id))
    if (kept.length < parts.length) onDropped('tool_result')
    if (hasOpenCalls && reply !== undefined) reply.parts.push(...kept)
    else if (kept.length > 0) turns.push((reply = { role: 'user', parts: kept }))
  }

  for (const turn of runsOf(messages)) {
    if (turn.role === 'user') {
      addReply(turn.parts)
    } else if (turn.role === 'system' && openCalls.size > 0) {
      deferred.push(turn)
    } else {
      if (turn.role === 'assistant') closeCalls()
      for (const part of turn.parts) if (part.type === 'tool-call') openCalls.add(part.id)
      turns.push(turn)
    }
  }
  closeCalls()
  return turns
}

/** Some vendors require a user message. If the conversation has only system text, it becomes the user message. */
export const withUserMessage = (messages: readonly Message[]): readonly Message[] =>
  messages.every(({ role }) => role === 'system') ? messages.map(({ parts }) => ({ role: 'user', parts })) : messages

function runsOf(messages: readonly Message[]): Turn[] {
  const runs: Turn[] = []
  for (const { role, parts } of messages) {
    // An empty message does not end a turn.
    if (parts.length === 0) continue
    const last = runs.at(-1)
    const portable = parts.map(freeTextAsFunction)
    if (last?.role === role) last.parts.push(...portable)
    else runs.push({ role, parts: portable })
  }
  return runs
}

const noResult = (id: string): ContentPart => ({
  type: 'tool-result',
  id,
  parts: [{ type: 'text', text: '[no result]' }],
  isError: false,
})
