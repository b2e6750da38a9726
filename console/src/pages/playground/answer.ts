import type { Dialect } from './search.ts'

/** A piece of an answer: text, reasoning, or the call of a tool with its arguments. */
export type AnswerPart = { readonly kind: 'text' | 'thinking' | 'tool'; readonly name?: string; readonly text: string }

export type Problem = { readonly code: string | undefined; readonly message: string }

export type Answer = {
  readonly parts: readonly AnswerPart[]
  readonly stopReason?: string | undefined
  readonly problem?: Problem | undefined
}

export const emptyAnswer: Answer = { parts: [] }

type Json = { readonly [name: string]: unknown }

const objectIn = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const listIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(objectIn) : [])
const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The error in a body or an event. The formats of the dialects differ, and so does that of administration. */
export function problemIn(body: unknown): Problem | undefined {
  const { error, code, message, type } = objectIn(body)
  if (typeof error === 'string') return { code: textIn(code), message: error }
  if (typeof error === 'object' && error !== null) {
    const inner = objectIn(error)
    const ownCode = textIn(inner['code']) ?? textIn(objectIn(inner['details'])['error_code']) ?? textIn(inner['type'])
    return { code: ownCode, message: textIn(inner['message']) ?? '' }
  }
  return type === 'error' ? { code: textIn(code), message: textIn(message) ?? '' } : undefined
}

/** Adds an event of the stream. */
export function addEvent(answer: Answer, dialect: Dialect, event: unknown): Answer {
  const problem = problemIn(event)
  if (problem) return { ...answer, problem }
  return readers[dialect](answer, objectIn(event))
}

const readers: Readonly<Record<Dialect, (answer: Answer, event: Json) => Answer>> = {
  messages(answer, event) {
    const delta = objectIn(event['delta'])
    const block = objectIn(event['content_block'])
    if (event['type'] === 'content_block_start') return pushed(answer, blockPart(block))
    const stopReason = textIn(delta['stop_reason'])
    if (stopReason !== undefined) return { ...answer, stopReason }
    return extended(answer, textIn(delta['text']) ?? textIn(delta['partial_json']) ?? textIn(delta['thinking']))
  },
  responses(answer, event) {
    const type = textIn(event['type']) ?? ''
    const item = objectIn(event['item'])
    if (type === 'response.output_item.added' && item['type'] === 'function_call')
      return pushed(answer, { kind: 'tool', name: textIn(item['name']) ?? '', text: '' })
    const delta = textIn(event['delta'])
    if (delta !== undefined) return continued(answer, deltaKind(type), delta)
    return type.startsWith('response.') && event['response'] !== undefined
      ? { ...answer, ...endOfResponse(objectIn(event['response'])) }
      : answer
  },
  chat(answer, event) {
    const [choice = {}] = listIn(event['choices'])
    const delta = objectIn(choice['delta'])
    const text = textIn(delta['content']) ?? textIn(delta['refusal'])
    const reasoning = textIn(delta['reasoning_content'])
    let next = reasoning === undefined ? answer : continued(answer, 'thinking', reasoning)
    if (text !== undefined) next = continued(next, 'text', text)
    for (const call of listIn(delta['tool_calls'])) {
      const tool = objectIn(call['function'])
      const name = textIn(tool['name'])
      if (name) next = pushed(next, { kind: 'tool', name, text: '' })
      next = extended(next, textIn(tool['arguments']))
    }
    const stopReason = textIn(choice['finish_reason'])
    return stopReason === undefined ? next : { ...next, stopReason }
  },
}

function deltaKind(type: string): AnswerPart['kind'] {
  if (type.includes('function_call')) return 'tool'
  return type.includes('reasoning') ? 'thinking' : 'text'
}

/** The answer in one piece. */
export function wholeAnswer(dialect: Dialect, body: unknown): Answer {
  const answer = objectIn(body)
  if (dialect === 'messages')
    return { parts: listIn(answer['content']).map(blockPart), stopReason: textIn(answer['stop_reason']) }
  if (dialect === 'responses') return { parts: listIn(answer['output']).flatMap(itemParts), ...endOfResponse(answer) }
  const [choice = {}] = listIn(answer['choices'])
  const message = objectIn(choice['message'])
  const text = textIn(message['content']) ?? textIn(message['refusal'])
  const reasoning = textIn(message['reasoning_content'])
  const tools = listIn(message['tool_calls']).map((call): AnswerPart => toolPart(objectIn(call['function'])))
  return {
    parts: [
      ...(reasoning === undefined ? [] : [{ kind: 'thinking' as const, text: reasoning }]),
      ...(text === undefined ? [] : [{ kind: 'text' as const, text }]),
      ...tools,
    ],
    stopReason: textIn(choice['finish_reason']),
  }
}

function blockPart(block: Json): AnswerPart {
  const { type, name, input, text, thinking } = block
  if (type === 'text') return { kind: 'text', text: textIn(text) ?? '' }
  if (type === 'thinking') return { kind: 'thinking', text: textIn(thinking) ?? '' }
  const given = Object.keys(objectIn(input)).length === 0 ? '' : JSON.stringify(input)
  return { kind: 'tool', name: textIn(name) ?? textIn(type) ?? '', text: given }
}

function itemParts(item: Json): AnswerPart[] {
  if (item['type'] === 'function_call') return [toolPart(item)]
  const texts = [...listIn(item['content']), ...listIn(item['summary'])]
  const kind = item['type'] === 'reasoning' ? 'thinking' : 'text'
  return texts.map((part) => ({ kind, text: textIn(part['text']) ?? textIn(part['refusal']) ?? '' }))
}

const toolPart = (tool: Json): AnswerPart => ({
  kind: 'tool',
  name: textIn(tool['name']) ?? '',
  text: textIn(tool['arguments']) ?? '',
})

function endOfResponse(response: Json): Pick<Answer, 'stopReason' | 'problem'> {
  const reason = textIn(objectIn(response['incomplete_details'])['reason'])
  const problem = response['error'] === null ? undefined : problemIn(response)
  return { stopReason: reason ?? textIn(response['status']), ...(problem && { problem }) }
}

const pushed = (answer: Answer, part: AnswerPart): Answer => ({ ...answer, parts: [...answer.parts, part] })

/** Appends to the last part. */
function extended(answer: Answer, text: string | undefined): Answer {
  const last = answer.parts.at(-1)
  if (text === undefined || last === undefined) return answer
  return { ...answer, parts: [...answer.parts.slice(0, -1), { ...last, text: last.text + text }] }
}

/** Appends to the last part if it is of this kind, and else begins one. */
const continued = (answer: Answer, kind: AnswerPart['kind'], text: string): Answer =>
  answer.parts.at(-1)?.kind === kind ? extended(answer, text) : pushed(answer, { kind, text })
