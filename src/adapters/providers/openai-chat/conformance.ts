import { isNamed, type ConformanceCheck } from '../decoding/conformance-check.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord, asRecords } from '../json-values.ts'

type State = { hasRole: boolean; callCount: number }

/** What clients of chat completions need: they join the pieces without looking, an id that comes twice too. */
export function createChatCheck(): ConformanceCheck {
  const state: State = { hasRole: false, callCount: 0 }
  return {
    event(chunk) {
      const { choices = [] } = chunk
      if (!Array.isArray(choices) || choices.length > 1) return false
      // One without a choice tells of the usage, which we spell ourselves.
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
  // An end that is empty is none, but clients may take it for one.
  if (choice?.['index'] !== 0 || delta === undefined || choice['finish_reason'] === '') return false
  state.hasRole ||= isNamed(delta['role'])
  if (!state.hasRole) return false
  const calls = delta['tool_calls'] ?? []
  return (
    isText(delta['content'] ?? null) && Array.isArray(calls) && calls.every((piece) => isPiece(state, asRecord(piece)))
  )
}

/** Calls are numbered from 0 as they begin; only the first piece of each says what it is. */
function isPiece(state: State, piece: JsonRecord | undefined): boolean {
  const told = asRecord(piece?.['function']) ?? asRecord(piece?.['custom'])
  if (piece === undefined || told === undefined || typeof piece['index'] !== 'number') return false
  if (typeof (told['arguments'] ?? told['input']) !== 'string') return false
  if (piece['index'] < state.callCount) return isSilent(piece['id']) && isSilent(told['name']) && piece['type'] !== null
  return piece['index'] === state.callCount++ && isCall(piece)
}

const isSilent = (value: unknown): boolean => value === undefined || value === ''

function isCall(call: JsonRecord | undefined): boolean {
  const told = asRecord(call?.['function']) ?? asRecord(call?.['custom'])
  const input = told?.['arguments'] ?? told?.['input']
  return isNamed(call?.['id']) && isNamed(call['type']) && isNamed(told?.['name']) && typeof input === 'string'
}

function isMessage(message: JsonRecord, { finish_reason: finish }: JsonRecord): boolean {
  const calls = message['tool_calls'] ?? []
  if (message['role'] !== 'assistant' || !isText(message['content']) || !isNamed(finish)) return false
  if (!Array.isArray(calls) || !calls.every((call) => isCall(asRecord(call)))) return false
  // A call is why an answer ends, whatever the server says.
  return calls.length === 0 || finish !== 'stop'
}

const isText = (content: unknown): boolean => content === null || typeof content === 'string'
