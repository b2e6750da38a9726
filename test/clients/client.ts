import type { CallerFormat } from '../../src/domain/inference/formats.ts'

/** A prompt, independent of the client that sends it. */
export type ClientRequest = {
  readonly model: string
  readonly text: string
  readonly wantsThinking?: boolean
  /** The response is to be an object with a `city`, as JSON text. Only some clients support it. */
  readonly wantsObject?: boolean
  /** A tool that the model may call. The client then continues until there is a final response. */
  readonly tool?: ClientTool
  readonly signal?: AbortSignal
  /** Called whenever text arrives. Only streaming clients call it. */
  readonly onText?: () => void
}

export type ClientTool = {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>> & { readonly type: 'object' }
  run(input: unknown): string
}

/** What every client reports about a response, in any dialect. */
export type ClientResult = {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly isRefusal: boolean
  readonly outputTokens: number
}

/** A client, its dialect, and how it reads the response. */
export type Client = {
  readonly name: string
  readonly dialect: CallerFormat
  readonly isStreaming: boolean
  /** False for clients that never show thinking. */
  readonly showsThinking: boolean
  /** False for clients that do not report the usage. */
  readonly showsUsage?: false
  /** How it handles a refusal: reports it, throws an error for some formats, or omits it. */
  readonly onRefusal: 'tells' | 'may raise' | 'hides'
  send(address: Address, request: ClientRequest): Promise<ClientResult>
}

/** The gateway's URL, without the `/v1` that some clients need. */
export type Address = { readonly url: string; readonly apiKey: string }

/** Creates a vendor's client for a gateway. Retries are disabled, so that every failure is visible. */
export type Connect<Sdk> = (address: Address) => Sdk

/** How a response is read: as a whole, event by event, or with the client's own stream helper. */
export const modes = ['whole', 'raw stream', 'stream helper'] as const
export type Mode = (typeof modes)[number]

/** An endless tool loop must end as a failure. */
export const maxTurns = 3

/** How a client reports a failure. Some clients have no status. */
export type Failure = { readonly status: number | undefined; readonly message: string }

/** Throws if there was a response. The response then describes best what went wrong. */
export async function failureOf(outcome: Promise<ClientResult>): Promise<Failure> {
  const result = await outcome.then(
    (answer) => answer,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
  if (!(result instanceof Error)) throw new Error(`There was a response: ${JSON.stringify(result)}`)
  const [status] = [Reflect.get(result, 'status'), Reflect.get(result, 'statusCode')].filter(
    (value) => typeof value === 'number',
  )
  return { status, message: result.message }
}
