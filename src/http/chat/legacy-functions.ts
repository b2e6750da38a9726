import { invalidField } from '../validate.ts'
import type { ChatBody, ChatMessage } from './schema.ts'

/**
 * The older form of tool calls: `functions` and `function_call` instead of `tools` and `tool_choice`, and the role
 * `function` for results. It is rewritten before it is decoded, so that every upstream gets the newer form.
 */

/** True if the caller declared `functions`. Its answer then has `function_call` instead of `tool_calls`. */
export const usesFunctions = ({ functions }: ChatBody): boolean => (functions ?? undefined) !== undefined

/** The body in the newer form. Returns the same body if it has nothing of the older one. */
export function withoutFunctions(body: ChatBody): ChatBody {
  const { functions, function_call: choice, ...rest } = body
  const messages = body.messages.some(isOlder) ? withoutFunctionMessages(body.messages) : body.messages
  if (!functions) return messages === body.messages && !choice ? body : { ...rest, messages }
  return {
    ...rest,
    messages,
    tools: functions.map((definition) => ({ type: 'function', function: definition })),
    ...(choice && { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice } }),
    parallel_tool_calls: false, // the older form has one call per answer
  }
}

const isOlder = (message: ChatMessage): boolean =>
  message.role === 'function' || (message.role === 'assistant' && Boolean(message.function_call))

/** The older form has no ids of calls: a result belongs to the last call of its name. */
function withoutFunctionMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const lastCalls = new Map<string, string>()
  return messages.map((message, at) => {
    if (message.role === 'function') {
      const id = lastCalls.get(message.name)
      if (id === undefined) throw invalidField(['messages', at, 'name'], 'names no function that was called before')
      return { role: 'tool', tool_call_id: id, content: message.content ?? '' }
    }
    if (message.role !== 'assistant' || !message.function_call) return message
    const { function_call: call, ...rest } = message
    const id = `call_function_${at}`
    lastCalls.set(call.name, id)
    return { ...rest, tool_calls: [{ type: 'function', id, function: call }] }
  })
}
