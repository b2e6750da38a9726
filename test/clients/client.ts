import type { Dialect } from '../../src/domain/inference/request.ts'

/** What is asked of a model, whatever client asks it. */
export type Asked = {
  readonly model: string
  readonly text: string
  readonly wantsThinking?: boolean
  /** Where given, the model may call it, and the client goes on until there is an answer. */
  readonly tool?: AskedTool
  readonly signal?: AbortSignal
  /** Told each time text arrives; only clients that stream can say. */
  readonly onText?: () => void
}

export type AskedTool = {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>> & { readonly type: 'object' }
  run(input: unknown): string
}

/** What every client can tell about an answer, whatever dialect it came in. */
export type Told = {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly isRefusal: boolean
  readonly outputTokens: number
}

/** One way of asking: a client, a dialect, and how the answer is read. */
export type Client = {
  readonly name: string
  readonly dialect: Dialect
  readonly isStreaming: boolean
  /** Some clients leave out thinking, whatever they are sent. */
  readonly showsThinking: boolean
  /** What it makes of a refusal: tells of it, raises an error at some forms of it, or leaves it out. */
  readonly onRefusal: 'tells' | 'may raise' | 'hides'
  ask(address: Address, asked: Asked): Promise<Told>
}

/** Where a client finds the gateway; without the `/v1` that some want. */
export type Address = { readonly url: string; readonly apiKey: string }

/** Makes a vendor's client for a gateway. It must not retry: each failure is to be seen. */
export type Connect<Sdk> = (address: Address) => Sdk

/** How an answer is read: in one piece, event by event, or with the client's own stream helper. */
export const modes = ['whole', 'raw stream', 'stream helper'] as const
export type Mode = (typeof modes)[number]

/** A loop that would go on for ever must end as a failure. */
export const maxTurns = 3

/** What clients say of a failure; those that know no status leave it out. */
export type Failure = { readonly status: number | undefined; readonly message: string }

/** Rejects where there was an answer: the answer is then the best description of what went wrong. */
export async function failureOf(asking: Promise<Told>): Promise<Failure> {
  const told = await asking.then(
    (answer) => answer,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
  if (!(told instanceof Error)) throw new Error(`There was an answer: ${JSON.stringify(told)}`)
  const [status] = [Reflect.get(told, 'status'), Reflect.get(told, 'statusCode')].filter(
    (value) => typeof value === 'number',
  )
  return { status, message: told.message }
}
