import type { InferenceRequest, ContentPart, Tool } from '../../../domain/inference/request.ts'
import { freeTextTool, isFreeText, withoutFreeText } from '../encoding/free-text-tools.ts'
import { parseRecord } from '../json-values.ts'
import { wantsThinking } from '../encoding/reasoning.ts'
import { sampleOf } from './sample.ts'

/** What the echo says, as a list of blocks. */
export type ReplyBlock =
  | { readonly type: 'thinking' | 'text' | 'refusal'; readonly text: string }
  | { readonly type: 'tool-call'; readonly name: string; readonly text: string }

const signed = (text: string): string => `[gatehouse-echo] ${text}`

/** The same request always gets the same reply. */
export function replyTo(request: InferenceRequest): ReplyBlock[] {
  const said = lastUserText(request)
  const thinking: ReplyBlock[] = wantsThinking(request.reasoning)
    ? [{ type: 'thinking', text: signed(`I was asked: ${said}`) }]
    : []
  return [...thinking, ...answerTo(request, said)]
}

function answerTo(request: InferenceRequest, said: string): ReplyBlock[] {
  const results = lastResults(request)
  if (results.length > 0) return [{ type: 'text', text: signed(`The tool answered: ${results.join('\n')}`) }]
  if (/\brefuse\b/i.test(said)) return [{ type: 'refusal', text: signed('I refuse, as I was told to.') }]
  const calls = callsFor(request, said)
  if (calls.length > 0) return calls
  const { outputFormat } = request
  if (outputFormat === undefined) return [{ type: 'text', text: signed(`You said: ${said}`) }]
  // JSON has no room for a signature.
  const value = outputFormat.type === 'json-schema' ? sampleOf(outputFormat.schema) : { echo: said }
  return [{ type: 'text', text: JSON.stringify(value) }]
}

type FunctionTool = Pick<Extract<Tool, { type: 'function' }>, 'name' | 'parameters'>

const functionsOf = (tool: Tool): FunctionTool[] => {
  if (tool.type === 'function') return [tool]
  return isFreeText(tool) ? [freeTextTool(tool)] : []
}

/** The tools that the caller insists on, or that the user names together with the word "call" or "use". */
function callsFor({ tools, toolChoice, parallelToolCalls }: InferenceRequest, said: string): ReplyBlock[] {
  const functions = tools.flatMap(functionsOf)
  if (toolChoice?.type === 'none' || functions.length === 0) return []
  if (toolChoice?.type === 'tool') {
    return functions.filter((tool) => tool.name === toolChoice.name).map((tool) => callOf(tool, said))
  }
  const named = /\b(call|use)\b/i.test(said) ? functions.filter((tool) => said.includes(tool.name)) : []
  const chosen = named.length === 0 && toolChoice?.type === 'required' ? functions.slice(0, 1) : named
  return (parallelToolCalls === false ? chosen.slice(0, 1) : chosen).map((tool) => callOf(tool, said))
}

/** `call NAME {…}` says the arguments; otherwise they are made up from the schema. */
function callOf({ name, parameters }: FunctionTool, said: string): ReplyBlock {
  const told = jsonAfter(said, said.indexOf(name) + name.length)
  return { type: 'tool-call', name, text: told ?? JSON.stringify(sampleOf(parameters)) }
}

/** Each try reads from the start: without a bound, a text of brackets alone would take for ever. */
const maxTries = 50

/** The JSON object that begins right here, whatever follows it. */
function jsonAfter(text: string, from: number): string | undefined {
  const rest = text.slice(from).trimStart()
  if (!rest.startsWith('{')) return undefined
  let tries = maxTries
  for (let end = rest.indexOf('}'); end !== -1 && tries-- > 0; end = rest.indexOf('}', end + 1)) {
    const candidate = rest.slice(0, end + 1)
    if (parseRecord(candidate) !== undefined) return candidate
  }
  return undefined
}

const lastUser = ({ messages }: InferenceRequest): readonly ContentPart[] =>
  messages.findLast((message) => message.role === 'user')?.parts ?? []

const lastUserText = (request: InferenceRequest): string => textOf(lastUser(request))

const lastResults = (request: InferenceRequest): string[] =>
  lastUser(request)
    .map(withoutFreeText)
    .flatMap((part) => (part.type === 'tool-result' ? [textOf(part.parts)] : []))

const textOf = (parts: readonly ContentPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
