import type OpenAI from 'openai'
import {
  maxTurns,
  modes,
  type ClientRequest,
  type Client,
  type Connect,
  type Mode,
  type ClientResult,
} from '../client.ts'

type Response = Pick<OpenAI.Responses.Response, 'id' | 'output' | 'usage' | 'incomplete_details'>
type Input = OpenAI.Responses.ResponseInput

/** The official OpenAI client on `/v1/responses`, in each of its ways to read a response. */
export const responsesClients = (name: string, connect: Connect<OpenAI>): Client[] =>
  modes.map((mode) => ({
    name: `${name}, responses, ${mode}`,
    dialect: 'responses',
    isStreaming: mode !== 'whole',
    showsThinking: true,
    onRefusal: 'tells',
    send(address, request) {
      const openai = connect(address)
      return converse(request, (turn) => turns[mode](openai, request, bodyOf(request, turn)))
    },
  }))

/** What a turn sends: the whole history, or only the items since a stored response. */
type Turn = { readonly input: Input; readonly previousId?: string }

async function converse(request: ClientRequest, take: (turn: Turn) => Promise<Response>): Promise<ClientResult> {
  let turn: Turn = { input: [{ role: 'user', content: request.text }] }
  for (let count = 1; count <= maxTurns; count++) {
    const response = await take(turn)
    const calls = response.output.filter((item) => item.type === 'function_call')
    const { tool } = request
    if (tool === undefined || calls.length === 0) return resultOf(response)
    const results = calls.map((call) => ({
      type: 'function_call_output' as const,
      call_id: call.call_id,
      output: tool.run(JSON.parse(call.arguments)),
    }))
    // With thinking the client sends the history itself; otherwise it refers to the stored response.
    turn =
      request.wantsThinking === true
        ? { input: [...turn.input, ...(response.output as Input), ...results] }
        : { input: results, previousId: response.id }
  }
  throw new Error('The tool was called again and again.')
}

function resultOf(response: Response): ClientResult {
  const contents = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  return {
    text: contents.flatMap((part) => (part.type === 'output_text' ? part.text : [])).join(''),
    thinking: response.output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : []))
      .join(''),
    calls: response.output.flatMap((item) =>
      item.type === 'function_call' ? { name: item.name, input: JSON.parse(item.arguments) } : [],
    ),
    isRefusal:
      contents.some((part) => part.type === 'refusal') || response.incomplete_details?.reason === 'content_filter',
    outputTokens: response.usage?.output_tokens ?? 0,
  }
}

type Body = ReturnType<typeof bodyOf>

const turns: Record<Mode, (openai: OpenAI, request: ClientRequest, body: Body) => Promise<Response>> = {
  whole: async (openai, request, body) => await openai.responses.create(body, optionsOf(request)),
  async 'raw stream'(openai, request, body) {
    let last: Response = nothing
    for await (const event of await openai.responses.create({ ...body, stream: true }, optionsOf(request))) {
      if (event.type === 'response.output_text.delta') request.onText?.()
      if ('response' in event) last = event.response
    }
    return last
  },
  async 'stream helper'(openai, request, body) {
    const stream = openai.responses.stream({ ...body, stream: true }, optionsOf(request))
    stream.on('response.output_text.delta', () => request.onText?.())
    return await stream.finalResponse()
  },
}

/** Such a reader sees a truncated stream as an empty response without an error. */
const nothing: Response = { id: '', output: [], incomplete_details: null }

const optionsOf = ({ signal }: ClientRequest) => (signal === undefined ? {} : { signal })

const bodyOf = ({ model, tool, wantsThinking }: ClientRequest, { input, previousId }: Turn) => ({
  model,
  input,
  ...(previousId !== undefined && { previous_response_id: previousId }),
  ...(wantsThinking === true && {
    store: false,
    include: ['reasoning.encrypted_content' as const],
    reasoning: { effort: 'high' as const, summary: 'auto' as const },
  }),
  ...(tool && {
    tools: [
      {
        type: 'function' as const,
        name: tool.name,
        description: tool.description,
        parameters: tool.schema,
        strict: false,
      },
    ],
  }),
})
