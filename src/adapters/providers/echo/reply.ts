import type { InferenceRequest, ContentPart, Tool } from '../../../domain/inference/request.ts'
import { functionForFreeText, isFreeText, freeTextAsFunction } from '../encoding/free-text-tools.ts'
import { parseRecord } from '../json-values.ts'
import { wantsThinking } from '../encoding/reasoning.ts'
import { sampleOf } from './sample.ts'

/** One block of the echo response. */
export type ReplyBlock =
  | { readonly type: 'thinking' | 'text' | 'refusal'; readonly text: string }
  | { readonly type: 'tool-call'; readonly name: string; readonly text: string }

const marked = (text: string): string => `[gatehouse-echo] ${text}`

/** The same request always gets the same reply. */
export function replyTo(request: InferenceRequest): ReplyBlock[] {
  const prompt = lastUserText(request)
  const thinking: ReplyBlock[] = wantsThinking(request.reasoning)
    ? [{ type: 'thinking', text: marked(`I was asked: ${prompt}`) }]
    : []
  return [...thinking, ...answerTo(request, prompt)]
}

function answerTo(request: InferenceRequest, prompt: string): ReplyBlock[] {
  const results = lastResults(request)
  if (results.length > 0) return [{ type: 'text', text: marked(`The tool answered: ${results.join('\n')}`) }]
  if (/\brefuse\b/i.test(prompt)) return [{ type: 'refusal', text: marked('I refuse, as I was told to.') }]
  const calls = callsFor(request, prompt)
  if (calls.length > 0) return calls
  const { outputFormat } = request
  if (outputFormat === undefined) return [{ type: 'text', text: marked(`You said: ${prompt}`) }]
  // JSON must fit the schema, so it has no marker.
  const value = outputFormat.type === 'json-schema' ? sampleOf(outputFormat.schema) : { echo: prompt }
  return [{ type: 'text', text: JSON.stringify(value) }]
}

type FunctionTool = Pick<Extract<Tool, { type: 'function' }>, 'name' | 'parameters'>

const functionsOf = (tool: Tool): FunctionTool[] => {
  if (tool.type === 'function') return [tool]
  return isFreeText(tool) ? [functionForFreeText(tool)] : []
}

/** Calls for the tools that the request forces, or that the prompt names together with the word "call" or "use". */
function callsFor({ tools, toolChoice, parallelToolCalls }: InferenceRequest, prompt: string): ReplyBlock[] {
  const functions = tools.flatMap(functionsOf)
  if (toolChoice?.type === 'none' || functions.length === 0) return []
  if (toolChoice?.type === 'tool') {
    return functions.filter((tool) => tool.name === toolChoice.name).map((tool) => callOf(tool, prompt))
  }
  const named = /\b(call|use)\b/i.test(prompt) ? functions.filter((tool) => prompt.includes(tool.name)) : []
  const chosen = named.length === 0 && toolChoice?.type === 'required' ? functions.slice(0, 1) : named
  return (parallelToolCalls === false ? chosen.slice(0, 1) : chosen).map((tool) => callOf(tool, prompt))
}

/** Takes the arguments from `call NAME {…}` in the prompt, otherwise generates them from the schema. */
function callOf({ name, parameters }: FunctionTool, prompt: string): ReplyBlock {
  const given = jsonAfter(prompt, prompt.indexOf(name) + name.length)
  return { type: 'tool-call', name, text: given ?? JSON.stringify(sampleOf(parameters)) }
}

/** Every try parses from the start, so a text of many brackets would take quadratic time without a limit. */
const maxTries = 50

/** The JSON object at this position, ignoring text after it. */
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
    .map(freeTextAsFunction)
    .flatMap((part) => (part.type === 'tool-result' ? [textOf(part.parts)] : []))

const textOf = (parts: readonly ContentPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
