import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { sendRaw } from '../../api/client.ts'
import { errorIn } from '../../api/error.ts'
import { words } from '../../words/en.ts'
import { addEvent, emptyAnswer, problemIn, wholeAnswer, type Answer } from './answer.ts'
import type { Settings, Texts } from './draft.ts'
import type { PlaygroundSearch } from './search.ts'

/** A server-sent event as it came, or the whole body. */
export type RawEvent = { readonly name: string | undefined; readonly data: string }

export type Run = {
  readonly requestId: string | undefined
  readonly status: number
  readonly answer: Answer
  readonly events: readonly RawEvent[]
}

/** Stopped before the server answered. */
const notStarted: Run = { requestId: undefined, status: 0, answer: emptyAnswer, events: [] }

type Call = {
  readonly settings: Settings
  readonly body: object
  readonly texts: Texts
  readonly search: PlaygroundSearch
}

export const playgroundPath = '/v1/organization/playground'

/** Sends a request of the playground, and keeps its answer while it comes. */
export function useRun(onStarted: (requestId: string) => void) {
  const [run, setRun] = useState<Run>()
  const controller = useRef<AbortController>(undefined)
  const mutation = useMutation({
    retry: false,
    async mutationFn({ settings, body }: Call): Promise<void> {
      const { dialect, project, headers } = settings
      controller.current = new AbortController()
      setRun(undefined)
      const { signal } = controller.current
      const call = { project_id: project, dialect, body }
      const response = await sendRaw(playgroundPath, call, { headers, signal })
      const requestId = response.headers.get('x-request-id') ?? undefined
      const base: Run = { requestId, status: response.status, answer: emptyAnswer, events: [] }
      if (response.ok && requestId !== undefined) onStarted(requestId)
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
      if (response.ok && isStream && response.body) return await readStream(response.body, base)
      const text = await response.text()
      const json = parsed(text)
      if (response.status === 401) throw errorIn(401, json)
      if (!response.ok && requestId !== undefined) onStarted(requestId)
      const problem = response.ok ? undefined : (problemIn(json) ?? { code: undefined, message: words.common.failed })
      const answer = problem ? { parts: [], problem } : wholeAnswer(dialect, json)
      setRun({ ...base, answer, events: [{ name: undefined, data: pretty(json, text) }] })

      async function readStream(stream: ReadableStream<Uint8Array>, start: Run): Promise<void> {
        let { answer: soFar, events } = start
        for await (const batch of eventsOf(stream)) {
          events = [...events, ...batch]
          for (const { data } of batch) soFar = addEvent(soFar, dialect, parsed(data))
          setRun({ ...start, answer: soFar, events })
        }
      }
    },
    onError(error) {
      if (error instanceof DOMException && error.name === 'AbortError')
        setRun((before = notStarted) => ({
          ...before,
          answer: { ...before.answer, stopReason: words.playground.stopped },
        }))
    },
  })
  return {
    run,
    /** What was sent last. The form may have changed since. */
    sent: mutation.variables,
    isRunning: mutation.isPending,
    error: mutation.error instanceof DOMException ? null : mutation.error,
    send: (call: Call) => mutation.mutate(call),
    stop: () => controller.current?.abort(),
  }
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const pretty = (json: unknown, text: string): string => (json === undefined ? text : JSON.stringify(json, null, 2))

/** The events of each network read. */
async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<readonly RawEvent[]> {
  const reader = stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { done, value = '' } = await reader.read()
    const frames = (rest + value).split(/\r?\n\r?\n/)
    rest = done ? '' : (frames.pop() ?? '')
    const events = frames.flatMap(eventIn)
    if (events.length > 0) yield events
    if (done) return
  }
}

function eventIn(frame: string): RawEvent[] {
  const fields = frame.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^(event|data): ?(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [{ name, value: value ?? '' }]
  })
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value)
  return data.length === 0 ? [] : [{ name: fields.find(({ name }) => name === 'event')?.value, data: data.join('\n') }]
}
