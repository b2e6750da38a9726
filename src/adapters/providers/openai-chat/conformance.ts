import { isNonEmptyText } from '../json-values.ts'
import type { ConformanceCheck } from '../wire-format.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord, asRecords } from '../json-values.ts'

type State = { hasRole: boolean; callCount: number }

/** SDKs of chat completions concatenate all deltas blindly. An id that is sent twice would be doubled. */
export function createChatCheck(): ConformanceCheck {
  const state: State = { hasRole: false, callCount: 0 }
  return {
    event(chunk) {
      const { choices = [] } = chunk
      if (!Array.isArray(choices) || choices.length > 1) return false
      // A chunk without choices reports the usage, which the endpoint encodes itself.
      return choices.length === 0 || isChoice(state, asRecord(choices[0]))
    },
    document(body) {
      const [choice, ...others] = asRecords(body['choices'])
      const message = asRecord(choice?.['message'])
      return others.length === 0 && choice?.['index'] === 0 && message !== undefined && isMessage(message, choice)
    },
  }
}

function isChoice(state: State, choice: JsonRecord | undefined): boolean {
  const delta = asRecord(choice?.['delta'])
  // An empty `finish_reason` means no end, but clients may treat it as one.
  if (choice?.['index'] !== 0 || delta === undefined || choice['finish_reason'] === '') return false
  state.hasRole ||= isNonEmptyText(delta['role'])
  if (!state.hasRole) return false
  const calls = delta['tool_calls'] ?? []
  return (
    isText(delta['content'] ?? null) &&
    Array.isArray(calls) &&
    calls.every((call) => isToolCallDelta(state, asRecord(call)))
  )
}

/** Calls are numbered from 0. Only the first delta of a call has an id and a name. */
function isToolCallDelta(state: State, delta: JsonRecord | undefined): boolean {
  const payload = asRecord(delta?.['function']) ?? asRecord(delta?.['custom'])
  if (delta === undefined || payload === undefined || typeof delta['index'] !== 'number') return false
  if (typeof (payload['arguments'] ?? payload['input']) !== 'string') return false
  if (delta['index'] < state.callCount)
    return isEmpty(delta['id']) && isEmpty(payload['name']) && delta['type'] !== null
  return delta['index'] === state.callCount++ && isCall(delta)
}

const isEmpty = (value: unknown): boolean => value === undefined || value === ''

function isCall(call: JsonRecord | undefined): boolean {
  const payload = asRecord(call?.['function']) ?? asRecord(call?.['custom'])
  const input = payload?.['arguments'] ?? payload?.['input']
  return (
    isNonEmptyText(call?.['id']) &&
    isNonEmptyText(call['type']) &&
    isNonEmptyText(payload?.['name']) &&
    typeof input === 'string'
  )
}

function isMessage(message: JsonRecord, { finish_reason: finish }: JsonRecord): boolean {
  const calls = message['tool_calls'] ?? []
  if (message['role'] !== 'assistant' || !isText(message['content']) || !isNonEmptyText(finish)) return false
  if (!Array.isArray(calls) || !calls.every((call) => isCall(asRecord(call)))) return false
  // With a tool call, the finish reason must not be `stop`.
  return calls.length === 0 || finish !== 'stop'
}

const isText = (content: unknown): boolean => content === null || typeof content === 'string'
