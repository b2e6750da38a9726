import { Dispatcher } from 'undici'

/** An upstream without a network: it answers each request with the same bytes, and stores the requests. */
export type MemoryUpstream = { readonly dispatcher: Dispatcher; readonly requests: readonly MemoryRequest[] }

export type MemoryRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export type MemoryAnswer = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Each chunk is a separate read, unless `inOneRead`. */
  readonly chunks: readonly (string | Uint8Array)[]
  readonly inOneRead?: boolean
  /** How the response ends: normally, by a broken connection, or not at all. */
  readonly ending?: 'end' | 'cut' | 'silence'
  /** Called after the last chunk. */
  readonly onSent?: () => void
}

export function createMemoryUpstream(answer: MemoryAnswer): MemoryUpstream {
  const requests: MemoryRequest[] = []
  return { dispatcher: new MemoryDispatcher(answer, requests), requests }
}

/** Extends undici's own class, so that it can be used as a dispatcher. */
class MemoryDispatcher extends Dispatcher {
  readonly #answer: MemoryAnswer
  readonly #requests: MemoryRequest[]

  constructor(answer: MemoryAnswer, requests: MemoryRequest[]) {
    super()
    this.#answer = answer
    this.#requests = requests
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#requests.push({
      url: `${String(options.origin)}${options.path}`,
      headers: { ...(options.headers as Record<string, string>) },
      body: JSON.parse(String(options.body)) as Record<string, unknown>,
    })
    void play(this.#answer, handler)
    return true
  }
}

async function play(answer: MemoryAnswer, handler: Dispatcher.DispatchHandler): Promise<void> {
  const controller = createController(handler)
  handler.onRequestStart?.(controller, {})
  await nextTurn()
  if (controller.aborted) return
  handler.onResponseStart?.(controller, answer.status ?? 200, { ...answer.headers })
  for (const chunk of answer.chunks) {
    if (controller.aborted) return
    handler.onResponseData?.(controller, Buffer.from(chunk))
    if (answer.inOneRead !== true) await nextTurn()
  }
  answer.onSent?.()
  if (controller.aborted || answer.ending === 'silence') return
  if (answer.ending === 'cut') handler.onResponseError?.(controller, new Error('read ECONNRESET'))
  else handler.onResponseEnd?.(controller, {})
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function createController(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchController {
  let isAborted = false
  return {
    get aborted() {
      return isAborted
    },
    paused: false,
    reason: null,
    abort(reason) {
      isAborted = true
      handler.onResponseError?.(this, reason)
    },
    pause() {},
    resume() {},
  }
}
