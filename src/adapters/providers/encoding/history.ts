import type { Message, ContentPart } from '../../../domain/inference/request.ts'
import { withoutFreeText } from './free-text-tools.ts'

/** A run of messages by one speaker. */
export type Turn = { readonly role: Message['role']; readonly parts: ContentPart[] }

/**
 * The conversation as every vendor accepts it: runs by one speaker are one turn, and each tool call is answered in the
 * very next user turn. A call nobody answered gets a result that says so; a result nobody asked for is left out.
 */
export function turnsOf(messages: readonly Message[], onDropped: (what: string) => void): Turn[] {
  const turns: Turn[] = []
  const unanswered = new Set<string>()
  let reply: Turn | undefined
  let held: Turn[] = []

  const settle = (): void => {
    if (unanswered.size > 0) {
      if (reply === undefined) turns.push((reply = { role: 'user', parts: [] }))
      reply.parts.unshift(...Array.from(unanswered, noResult))
    }
    turns.push(...held)
    unanswered.clear()
    reply = undefined
    held = []
  }

  const takeReply = (parts: readonly ContentPart[]): void => {
    const isAwaited = unanswered.size > 0
    const kept = parts.filter((part) => part.type !== 'tool-result' || unanswered.delete(part.id))
    if (kept.length < parts.length) onDropped('tool_result')
    if (isAwaited && reply !== undefined) reply.parts.push(...kept)
    else if (kept.length > 0) turns.push((reply = { role: 'user', parts: kept }))
  }

  for (const turn of runsOf(messages)) {
    if (turn.role === 'user') {
      takeReply(turn.parts)
    } else if (turn.role === 'system' && unanswered.size > 0) {
      // Nothing may stand between a call and its result.
      held.push(turn)
    } else {
      if (turn.role === 'assistant') settle()
      for (const part of turn.parts) if (part.type === 'tool-call') unanswered.add(part.id)
      turns.push(turn)
    }
  }
  settle()
  return turns
}

/** Some vendors answer nobody but a user: where only the system has spoken, what it was told is what is asked. */
export const withUser = (messages: readonly Message[]): readonly Message[] =>
  messages.every(({ role }) => role === 'system') ? messages.map(({ parts }) => ({ role: 'user', parts })) : messages

function runsOf(messages: readonly Message[]): Turn[] {
  const runs: Turn[] = []
  for (const { role, parts } of messages) {
    // Whoever says nothing interrupts nobody.
    if (parts.length === 0) continue
    const last = runs.at(-1)
    const plain = parts.map(withoutFreeText)
    if (last?.role === role) last.parts.push(...plain)
    else runs.push({ role, parts: plain })
  }
  return runs
}

const noResult = (id: string): ContentPart => ({
  type: 'tool-result',
  id,
  parts: [{ type: 'text', text: '[no result]' }],
  isError: false,
})
