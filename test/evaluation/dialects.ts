import { isRecord } from '../../src/base/record.ts'
import type { CallerFormat } from '../../src/domain/inference/formats.ts'
import type { TestApp } from '../support/app.ts'

export type Prompt = {
  readonly model: string
  readonly text: string
  readonly stream: boolean
  readonly flaggedCategories?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** What a caller sees of a response, independent of the dialect. */
export type PromptResult = {
  readonly status: number
  /** `ended`, `filtered`, or `denied` if the request was denied. */
  readonly ending: string
  /** All text of the response: text, thinking and tool arguments. */
  readonly text: string
  /** The error code, if the dialect has codes. */
  readonly code: string | undefined
  readonly policy: Readonly<Record<string, unknown>> | undefined
}

const paths: Readonly<Record<CallerFormat, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

const filteredReasons = ['refusal', 'content_filter']

export async function sendPrompt(app: TestApp, dialect: CallerFormat, prompt: Prompt): Promise<PromptResult> {
  const { model, text, stream, flaggedCategories, headers = {} } = prompt
  const messages = [{ role: 'user', content: text }]
  const body = {
    model,
    stream,
    ...(dialect === 'responses' ? { input: messages, store: false } : { messages, max_tokens: 4_000 }),
    ...(flaggedCategories && { flagged_categories: flaggedCategories }),
  }
  const answer = await app.post(paths[dialect], body, { authorization: `Bearer ${app.apiKey}`, ...headers })
  const raw = await answer.text()
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  const parts = isStream ? framesOf(raw) : [JSON.parse(raw) as unknown]
  const valuesNamed = (name: string): unknown[] => parts.flatMap((part) => valuesOf(part, name))
  const isFiltered = [...valuesNamed('stop_reason'), ...valuesNamed('finish_reason'), ...valuesNamed('reason')].some(
    (value) => typeof value === 'string' && filteredReasons.includes(value),
  )
  const [policy] = valuesNamed('policy').filter(isRecord)
  const [code] = valuesNamed('code').filter((value) => typeof value === 'string')
  return {
    status: answer.status,
    ending: answer.ok ? (isFiltered ? 'filtered' : 'ended') : 'denied',
    text: isStream ? textOfStream(dialect, parts) : textOfDocument(parts[0]),
    code: typeof code === 'string' ? code : undefined,
    policy,
  }
}

const framesOf = (raw: string): unknown[] =>
  raw
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))

/** Every value of a field of this name, at any depth. */
function valuesOf(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesOf(one, name))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, one]) => (key === name ? [one] : valuesOf(one, name)))
}

const textFields = ['text', 'thinking', 'content', 'reasoning_content', 'arguments', 'input', 'partial_json'] as const

const textOfDocument = (document: unknown): string =>
  textFields.map((name) => valuesOf(document, name).map(asText).join('')).join(' ')

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : isRecord(value) ? JSON.stringify(value) : ''

/** Streams send much text twice, in deltas and as a whole: only the deltas count here. */
function textOfStream(dialect: CallerFormat, frames: readonly unknown[]): string {
  if (dialect !== 'responses') {
    const deltas = frames.flatMap((frame) => valuesOf(frame, 'delta'))
    return textFields
      .map((name) =>
        deltas
          .flatMap((delta) => valuesOf(delta, name))
          .map(asText)
          .join(''),
      )
      .join(' ')
  }
  return frames
    .flatMap((frame) => valuesOf(frame, 'delta'))
    .map(asText)
    .join('')
}
