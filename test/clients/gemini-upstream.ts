import { startUpstream, type ReceivedRequest, type TestUpstream } from '../support/upstream.ts'
import type { ServerResponse } from 'node:http'

/** A part of a content, as far as the server reads it. */
type Part = {
  readonly text?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly functionCall?: Call
  readonly functionResponse?: { readonly id: string; readonly name: string; readonly response: { output?: string } }
  readonly thoughtSignature?: string
}
type Call = { readonly id: string; readonly name: string; readonly args: object }
type Content = { readonly role: string; readonly parts: readonly Part[] }
type Body = {
  readonly contents: readonly Content[]
  readonly tools?: readonly { readonly functionDeclarations: readonly { readonly name: string }[] }[]
  readonly generationConfig?: { readonly thinkingConfig?: { readonly includeThoughts?: boolean } }
}

const signature = 'CpIBAVSoXO6mZqSEQn0b4w5QJ8n0'
const skipped = 'skip_thought_signature_validator'

/**
 * A server with the API of Gemini, without a model. It rejects what the real one rejects: another key, roles that do not
 * alternate, results that do not match their calls, and a first call without a signature. The text decides the answer:
 * `call read` calls a tool twice, `fail with 429` fails, and anything else is repeated.
 */
export const startGemini = (): Promise<TestUpstream> =>
  startUpstream(async (response, request) => {
    if (request.headers['x-goog-api-key'] !== 'upstream-key') return fail(response, 403)
    if (request.method === 'GET') return sendJson(response, 200, { models: [] })
    const body = JSON.parse(request.body) as Body
    const problem = problemIn(body.contents)
    if (problem !== undefined) return fail(response, 400, problem)
    const [, status] = /fail with (\d+)/.exec(lastText(body)) ?? []
    if (status !== undefined) return fail(response, Number(status))
    await answer(response, request, partsFor(body))
  })

function problemIn(contents: readonly Content[]): string | undefined {
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== (at % 2 === 0 ? 'user' : 'model')) return `contents[${at}] has the role ${role}`
    const called = parts.flatMap(({ functionCall }) => functionCall ?? [])
    const responses = (contents[at + 1]?.parts ?? []).flatMap((part) => part.functionResponse ?? [])
    const idsOf = (list: readonly { id: string; name: string }[]): string => list.map((one) => one.id + one.name).join()
    if (idsOf(called) !== idsOf(responses)) return 'the number of function responses differs from that of the calls'
    const first = parts.find(({ functionCall }) => functionCall !== undefined)
    if (first !== undefined && ![signature, skipped].includes(first.thoughtSignature ?? ''))
      return 'Function call is missing a thought_signature in functionCall parts.'
  }
  return undefined
}

const lastText = ({ contents }: Body): string =>
  contents
    .at(-1)
    ?.parts.flatMap(({ text }) => text ?? [])
    .join('') ?? ''

/** What the model says. The server streams each part on its own, and texts in several parts. */
function partsFor(body: Body): object[] {
  const last = contents(body)
  const thought = body.generationConfig?.thinkingConfig?.includeThoughts ? [{ text: 'Hm, well.', thought: true }] : []
  const results = last.flatMap(({ functionResponse }) => functionResponse?.response.output ?? [])
  if (results.length > 0) return [{ text: `The tool said ${results.join(' and ')}, ${signedBy(body)}.` }]
  const images = last.flatMap(({ inlineData }) => inlineData ?? [])
  if (images.length > 0) return [{ text: `I see ${images.map(({ mimeType }) => mimeType).join()}.` }]
  const [tool] = body.tools?.[0]?.functionDeclarations ?? []
  if (tool === undefined || !lastText(body).includes('call'))
    return [...thought, { text: `You said: ${lastText(body)} 👋` }]
  const call = (path: string) => ({ id: `id_${path}`, name: tool.name, args: { path } })
  return [...thought, { functionCall: call('a'), thoughtSignature: signature }, { functionCall: call('b') }]
}

const contents = (body: Body): readonly Part[] => body.contents.at(-1)?.parts ?? []

const signedBy = (body: Body): string =>
  body.contents.some(({ parts }) => parts.some((part) => part.thoughtSignature === signature)) ? 'signed' : 'unsigned'

async function answer(response: ServerResponse, request: ReceivedRequest, parts: readonly object[]): Promise<void> {
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 6, thoughtsTokenCount: 4, totalTokenCount: 30 }
  const responseOf = (some: readonly object[], more: object = {}): object => ({
    candidates: [{ content: { role: 'model', parts: some }, index: 0, ...more }],
    usageMetadata,
    modelVersion: 'gemini-3-pro-preview',
    responseId: 'r1',
  })
  if (request.path.endsWith(':generateContent')) {
    return sendJson(response, 200, responseOf(parts, { finishReason: 'STOP' }))
  }
  const pieces = parts.flatMap(inPieces)
  const events = pieces.map((piece, at) =>
    responseOf([piece], at === pieces.length - 1 ? { finishReason: 'STOP' } : {}),
  )
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // Cut inside characters and lines, wherever that is.
  for (let at = 0; at < bytes.length; at += 97) {
    await new Promise<void>((resolve) => void response.write(bytes.subarray(at, at + 97), () => resolve()))
  }
  response.end()
}

const inPieces = (part: object): object[] =>
  'text' in part && typeof part.text === 'string'
    ? Array.from(part.text.match(/.{1,5}/gsu) ?? [], (text) => ({ ...part, text }))
    : [part]

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

function fail(response: ServerResponse, code: number, message = `Google says ${code}.`): void {
  const status = statusNames[code] ?? 'UNKNOWN'
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }
  sendJson(response, code, { error: { code, message, status, ...(code === 429 && { details: [retry] }) } })
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
  response.end(JSON.stringify(body))
}
