import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import { startUpstream, type Script, type TestUpstream } from './upstream.ts'
import { operatorOf } from './operator.ts'

/** An app whose model costs one credit for each token, and the upstream behind it. */
export type PaidApp = AsyncDisposable & {
  readonly app: TestApp
  readonly upstream: TestUpstream
  /** The balance of the organization in the ledger. */
  remaining(): Promise<number>
  /** Usage since the start, from the usage report. */
  used(): Promise<Used>
}

export type Used = {
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly credits: number
}

export const question = { model: 'paid', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }

const usagePath = '/v1/organization/usage'

export type PaidAppOptions = TestAppOptions & {
  /** Settings of its upstream, in addition to its address. */
  readonly upstreamSettings?: Readonly<Record<string, unknown>>
  /** Settings of its model, in addition to its price. */
  readonly modelSettings?: Readonly<Record<string, unknown>>
  /** Whether it also has the model `gatehouse-echo`, which costs nothing. */
  readonly hasEcho?: boolean
}

export async function startPaidApp({
  upstreamSettings,
  modelSettings,
  hasEcho = false,
  ...options
}: PaidAppOptions = {}): Promise<PaidApp> {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.use(await startUpstream())
  const app = opened.use(
    await startTestApp({
      ...options,
      config: {
        upstreams: [
          { name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1`, ...upstreamSettings },
          ...(hasEcho ? [{ name: 'echo', kind: 'echo' }] : []),
        ],
        models: [
          { name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 }, ...modelSettings },
          ...(hasEcho ? [{ name: 'gatehouse-echo', targets: [{ upstream: 'echo' }] }] : []),
        ],
        ...options.config,
      },
    }),
  )
  const kept = opened.move()
  return {
    app,
    upstream,
    remaining: async () => (await operatorOf(app.app).balance()).remaining_credits,
    async used() {
      const answer = await app.get(usagePath, { authorization: `Bearer ${app.adminKey}` })
      const { data } = (await answer.json()) as { data: { results: UsageResult[] }[] }
      const [only] = data.flatMap(({ results }) => results)
      const { requests = 0, input_tokens: input = 0, output_tokens: output = 0, credits = 0 } = only ?? {}
      return { requests, input, output, credits }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

type UsageResult = { requests: number; input_tokens: number; output_tokens: number; credits: number }

type Counted = { readonly input: number; readonly output: number }

const usageOf = ({ input, output }: Counted) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

/** A complete answer that reports these tokens; without `tokens` it reports no usage. */
export const answerWith =
  (content: string, counted?: Counted): Script =>
  (response) => {
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }
    const body = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'paid', choices: [choice] }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...body, ...(counted && { usage: usageOf(counted) }) }))
  }

/** Frames of a stream: each text, then the end with these tokens. */
export const streamFrames = (texts: readonly string[], counted?: Counted): string[] => {
  const frame = (delta: object, rest: object = {}, finish: string | null = null): string => {
    const choices = [{ index: 0, delta, finish_reason: finish }]
    const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'paid', choices, ...rest }
    return `data: ${JSON.stringify(chunk)}\n\n`
  }
  const end = counted === undefined ? {} : { usage: usageOf(counted) }
  return [...texts.map((content) => frame({ role: 'assistant', content })), frame({}, end, 'stop'), 'data: [DONE]\n\n']
}
