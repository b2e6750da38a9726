import { isNamed, type FormCheck } from '../answering/form-check.ts'
import type { Json } from '../reading.ts'
import { recordOf, recordsOf } from '../reading.ts'

type State = { hasRole: boolean; callCount: number }

/** What clients of chat completions need: they join the pieces without looking, an id that comes twice too. */
export function createFormCheck(): FormCheck {
  const state: State = { hasRole: false, callCount: 0 }
  return {
    event(chunk) {
      const { choices = [] } = chunk
      if (!Array.isArray(choices) || choices.length > 1) return false
      // One without a choice tells of the usage, which we spell ourselves.
      return choices.length === 0 || isChoice(state, recordOf(choices[0]))
    },
    document(body) {
      const [choice, ...others] = recordsOf(body['choices'])
      const message = recordOf(choice?.['message'])
      return others.length === 0 && choice?.['index'] === 0 && message !== undefined && isMessage(message, choice)
    },
  }
}

function isChoice(state: State, choice: Json | undefined): boolean {
  const delta = recordOf(choice?.['delta'])
  // An end that is empty is none, but clients may take it for one.
  if (choice?.['index'] !== 0 || delta === undefined || choice['finish_reason'] === '') return false
  state.hasRole ||= isNamed(delta['role'])
  if (!state.hasRole) return false
  const calls = delta['tool_calls'] ?? []
  return (
    isText(delta['content'] ?? null) && Array.isArray(calls) && calls.every((piece) => isPiece(state, recordOf(piece)))
  )
}

/** Calls are numbered from 0 as they begin; only the first piece of each says what it is. */
function isPiece(state: State, piece: Json | undefined): boolean {
  const told = recordOf(piece?.['function']) ?? recordOf(piece?.['custom'])
  if (piece === undefined || told === undefined || typeof piece['index'] !== 'number') return false
  if (typeof (told['arguments'] ?? told['input']) !== 'string') return false
  if (piece['index'] < state.callCount) return isSilent(piece['id']) && isSilent(told['name']) && piece['type'] !== null
  return piece['index'] === state.callCount++ && isCall(piece)
}

const isSilent = (value: unknown): boolean => value === undefined || value === ''

function isCall(call: Json | undefined): boolean {
  const told = recordOf(call?.['function']) ?? recordOf(call?.['custom'])
  const input = told?.['arguments'] ?? told?.['input']
  return isNamed(call?.['id']) && isNamed(call['type']) && isNamed(told?.['name']) && typeof input === 'string'
}

function isMessage(message: Json, { finish_reason: finish }: Json): boolean {
  const calls = message['tool_calls'] ?? []
  if (message['role'] !== 'assistant' || !isText(message['content']) || !isNamed(finish)) return false
  if (!Array.isArray(calls) || !calls.every((call) => isCall(recordOf(call)))) return false
  // A call is why an answer ends, whatever the server says.
  return calls.length === 0 || finish !== 'stop'
}

const isText = (content: unknown): boolean => content === null || typeof content === 'string'
