import { isNamed, type FormCheck } from '../form-check.ts'
import type { Json } from '../reading.ts'
import { listOf, recordOf, recordsOf } from '../reading.ts'

type State = { hasRole: boolean; callCount: number }

/** What clients of chat completions need: they join the pieces without looking, a role or an id that comes twice too. */
export function createFormCheck(): FormCheck {
  const state: State = { hasRole: false, callCount: 0 }
  return {
    event(chunk) {
      const choices = listOf(chunk['choices'])
      // One without a choice tells of the usage, which we spell ourselves.
      return choices.length === 0 || (choices.length === 1 && isChoice(state, recordOf(choices[0])))
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
  if (choice?.['index'] !== 0 || delta === undefined) return false
  const saysRole = (delta['role'] ?? null) !== null
  // Once, and first.
  if (saysRole === state.hasRole) return false
  state.hasRole = true
  return (
    isText(delta['content'] ?? null) && listOf(delta['tool_calls']).every((piece) => isPiece(state, recordOf(piece)))
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

function isMessage(message: Json, choice: Json): boolean {
  const calls = listOf(message['tool_calls'])
  const isTrueFinish = calls.length === 0 || choice['finish_reason'] !== 'stop'
  return (
    message['role'] === 'assistant' &&
    isText(message['content']) &&
    calls.every((call) => isCall(recordOf(call))) &&
    isNamed(choice['finish_reason']) &&
    isTrueFinish
  )
}

const isText = (content: unknown): boolean => content === null || typeof content === 'string'
