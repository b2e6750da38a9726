import type { ServerResponse } from 'node:http'
import type { NetworkKind } from '../clients/scripted-upstream.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

/** The response of an upstream, block by block. */
export type UpstreamBlock =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string; readonly input: Readonly<Record<string, unknown>> }

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }

type Exchange = { readonly request: ReceivedRequest; readonly response: ServerResponse }

/** Encodes the response in the upstream's format, as a stream of small chunks or as one document. */
export function writeResponse(kind: NetworkKind, blocks: readonly UpstreamBlock[], exchange: Exchange): void {
  const { request, response } = exchange
  const isStream = request.body.includes('"stream":true') || request.path.includes('alt=sse')
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  response.end(isStream ? streams[kind](blocks).join('') : JSON.stringify(documents[kind](blocks)))
}

const chunksOf = (text: string): string[] => text.match(/.{1,7}/gsu) ?? []

const frame = (type: string, ...rest: readonly object[]): string =>
  `event: ${type}\ndata: ${JSON.stringify(Object.assign({ type }, ...rest))}\n\n`
const chatFrame = (delta: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`

const stopOf = (blocks: readonly UpstreamBlock[], tool: string, end: string): string =>
  blocks.some(({ type }) => type === 'tool') ? tool : end

const anthropicBlock = (block: UpstreamBlock, at: number): object => {
  if (block.type === 'tool') return { type: 'tool_use', id: `toolu_${at}`, name: block.name, input: block.input }
  return block.type === 'text'
    ? { type: 'text', text: block.text }
    : { type: 'thinking', thinking: block.text, signature: 'c2ln' }
}

const chatCall = (block: UpstreamBlock, at: number): object[] =>
  block.type === 'tool'
    ? [
        {
          index: at,
          id: `call_${at}`,
          type: 'function',
          function: { name: block.name, arguments: JSON.stringify(block.input) },
        },
      ]
    : []

const chatMessage = (blocks: readonly UpstreamBlock[]): object => {
  const calls = blocks.flatMap(chatCall)
  const textOf = (type: string): string =>
    blocks.map((block) => (block.type === type && 'text' in block ? block.text : '')).join('')
  const reasoning = textOf('thinking')
  return {
    role: 'assistant',
    content: textOf('text'),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

const responsesItem = (block: UpstreamBlock, at: number): object => {
  if (block.type === 'tool') {
    const call = { name: block.name, arguments: JSON.stringify(block.input), status: 'completed' }
    return { id: `fc_${at}`, type: 'function_call', call_id: `call_${at}`, ...call }
  }
  if (block.type === 'thinking') {
    return { id: `rs_${at}`, type: 'reasoning', summary: [{ type: 'summary_text', text: block.text }] }
  }
  const content = [{ type: 'output_text', text: block.text, annotations: [] }]
  return { id: `msg_${at}`, type: 'message', role: 'assistant', status: 'completed', content }
}

const responsesDocument = (blocks: readonly UpstreamBlock[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: blocks.map(responsesItem),
  usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
})

const geminiPart = (block: UpstreamBlock): object => {
  if (block.type === 'tool') return { functionCall: { name: block.name, args: block.input } }
  return { text: block.text, ...(block.type === 'thinking' && { thought: true }) }
}

const geminiResponse = (parts: readonly object[], more: object = { finishReason: 'STOP' }): object => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
  modelVersion: 'm',
})

const documents: Readonly<Record<NetworkKind, (blocks: readonly UpstreamBlock[]) => object>> = {
  anthropic: (blocks) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: blocks.map(anthropicBlock),
    stop_reason: stopOf(blocks, 'tool_use', 'end_turn'),
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 7 },
  }),
  'openai-chat': (blocks) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: chatMessage(blocks), finish_reason: stopOf(blocks, 'tool_calls', 'stop') }],
    usage,
  }),
  'openai-responses': responsesDocument,
  gemini: (blocks) => geminiResponse(blocks.map(geminiPart)),
}

const streams: Readonly<Record<NetworkKind, (blocks: readonly UpstreamBlock[]) => string[]>> = {
  anthropic: (blocks) => [
    frame('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 0 },
      },
    }),
    ...blocks.flatMap(anthropicFrames),
    frame('message_delta', {
      delta: { stop_reason: stopOf(blocks, 'tool_use', 'end_turn'), stop_sequence: null },
      usage: { output_tokens: 7 },
    }),
    frame('message_stop'),
  ],
  'openai-chat': (blocks) => [
    chatFrame({ role: 'assistant', content: '' }),
    ...blocks.flatMap((block, at) => {
      if (block.type === 'tool') return chatCall(block, at).map((call) => chatFrame({ tool_calls: [call] }))
      const field = block.type === 'text' ? 'content' : 'reasoning_content'
      return chunksOf(block.text).map((text) => chatFrame({ [field]: text }))
    }),
    chatFrame({}, stopOf(blocks, 'tool_calls', 'stop')),
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ],
  'openai-responses': (blocks) => {
    const response = { ...responsesDocument(blocks) }
    return [
      frame('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...blocks.flatMap(responsesFrames),
      frame('response.completed', { response }),
    ]
  },
  gemini: (blocks) => [
    ...blocks.flatMap(piecesOf).map((block) => geminiFrame(geminiResponse([geminiPart(block)], {}))),
    geminiFrame(geminiResponse([])),
  ],
}

const piecesOf = (block: UpstreamBlock): UpstreamBlock[] =>
  block.type === 'tool' ? [block] : chunksOf(block.text).map((text) => ({ ...block, text }))

const geminiFrame = (body: object): string => `data: ${JSON.stringify(body)}\r\n\r\n`

function anthropicFrames(block: UpstreamBlock, index: number): string[] {
  const start = { ...anthropicBlock(block, index), ...(block.type === 'tool' ? { input: {} } : { [block.type]: '' }) }
  const delta = (inner: object): string => frame('content_block_delta', { index, delta: inner })
  const deltas =
    block.type === 'tool'
      ? chunksOf(JSON.stringify(block.input)).map((json) => delta({ type: 'input_json_delta', partial_json: json }))
      : chunksOf(block.text).map((text) => delta({ type: `${block.type}_delta`, [block.type]: text }))
  const signature = block.type === 'thinking' ? [delta({ type: 'signature_delta', signature: 'c2ln' })] : []
  return [
    frame('content_block_start', { index, content_block: start }),
    ...deltas,
    ...signature,
    frame('content_block_stop', { index }),
  ]
}

function responsesFrames(block: UpstreamBlock, at: number): string[] {
  const item = responsesItem(block, at)
  const position = { output_index: at, item_id: 'id' in item ? item.id : '' }
  const wrap = (inner: string[], empty: object): string[] => [
    frame('response.output_item.added', { output_index: at, item: { ...item, status: 'in_progress', ...empty } }),
    ...inner,
    frame('response.output_item.done', { output_index: at, item }),
  ]
  if (block.type === 'tool') {
    const json = JSON.stringify(block.input)
    const deltas = chunksOf(json).map((delta) => frame('response.function_call_arguments.delta', position, { delta }))
    return wrap([...deltas, frame('response.function_call_arguments.done', position, { arguments: json })], {
      arguments: '',
    })
  }
  if (block.type === 'thinking') {
    const inPart = { ...position, summary_index: 0 }
    const deltas = chunksOf(block.text).map((delta) =>
      frame('response.reasoning_summary_text.delta', inPart, { delta }),
    )
    const part = { type: 'summary_text', text: '' }
    return wrap(
      [
        frame('response.reasoning_summary_part.added', inPart, { part }),
        ...deltas,
        frame('response.reasoning_summary_text.done', inPart, { text: block.text }),
        frame('response.reasoning_summary_part.done', inPart, { part: { ...part, text: block.text } }),
      ],
      { summary: [] },
    )
  }
  const inPart = { ...position, content_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [] }
  const deltas = chunksOf(block.text).map((delta) =>
    frame('response.output_text.delta', inPart, { delta, logprobs: [] }),
  )
  return wrap(
    [
      frame('response.content_part.added', inPart, { part }),
      ...deltas,
      frame('response.output_text.done', inPart, { text: block.text, logprobs: [] }),
      frame('response.content_part.done', inPart, { part: { ...part, text: block.text } }),
    ],
    { content: [] },
  )
}
