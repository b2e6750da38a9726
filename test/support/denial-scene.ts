import assert from 'node:assert/strict'
import { startTestApp, type TestApp } from './app.ts'
import { answerJson, answerStream, startUpstream } from './upstream.ts'

export type Outcome = {
  readonly check: string
  readonly is_deciding: boolean
  readonly name: string | null
  readonly version: number | null
  readonly decision: string
  readonly is_enforced: boolean | null
  readonly categories: readonly string[]
  readonly terms: readonly string[]
  readonly has_no_allowed_term: boolean
  readonly personal_data: readonly unknown[]
}
export type Marked = {
  readonly text: string
  readonly evidence: readonly { check: string; start: number; end: number }[]
}
export type Detail = {
  readonly id: string
  readonly status: string
  readonly check: string | null
  readonly policy_name: string | null
  readonly direction: string
  readonly outcomes: readonly Outcome[]
  readonly content: { prompt: Marked; response: Marked & { withheld_from: number | null } } | null
}

const crisis = 'I want to kill myself tonight.'

/** A server with a scripted model, and what the API tells about each request to it. */
export type DenialScene = TestApp & {
  change(path: string, body: object, method?: 'POST' | 'PUT'): Promise<Record<string, unknown>>
  /** Sends a request to the scripted upstream and reads what the console shows of it. */
  ask(sent: Sent): Promise<Detail>
}
type Sent = { readonly prompt?: string; readonly answer?: string; readonly stream?: boolean; readonly more?: object }

export async function openDenialScene(content: 'none' | 'redacted' | 'full' = 'full'): Promise<DenialScene> {
  const upstream = await startUpstream()
  const app = await startTestApp({
    config: {
      audit: { content },
      upstreams: [{ name: 'scripted', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
      models: [{ name: 'scripted', targets: [{ upstream: 'scripted' }] }],
    },
  })
  const admin = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
  return {
    ...app,
    async change(path, body, method: 'POST' | 'PUT' = 'POST') {
      const response = await fetch(app.url + path, { method, headers: admin, body: JSON.stringify(body) })
      const text = await response.text()
      assert.ok(response.ok, text)
      return JSON.parse(text) as Record<string, unknown>
    },
    async ask({ prompt = 'Hello', answer = 'Hello to you', stream = false, more = {} }) {
      upstream.answer(stream ? answerStream(...eventsOf(answer)) : answerJson(completionOf(answer)))
      const messages = [{ role: 'user', content: prompt }]
      const response = await app.post('/v1/chat/completions', { model: 'scripted', stream, messages, ...more })
      await response.text()
      const id = response.headers.get('x-request-id') ?? ''
      const read = await app.get(`/v1/organization/requests/${id}?include=content`, admin)
      assert.equal(read.status, 200)
      return (await read.json()) as Detail
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

const usage = { prompt_tokens: 5, completion_tokens: 16, total_tokens: 21 }
const completionOf = (content: string) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage,
})

const eventsOf = (text: string): string[] => [
  ...(text.match(/\S+\s*/g) ?? []).map((content) => eventOf({ content }, null)),
  eventOf({}, 'stop'),
  'data: [DONE]\n\n',
]
const eventOf = (delta: object, reason: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }], ...(reason && { usage }) })}\n\n`

export async function addPolicy(scene: DenialScene, fields: object): Promise<string> {
  const { id } = await scene.change('/v1/organization/policies', { mode: 'enforcing', ...fields })
  await scene.change(`/v1/organization/policies/${String(id)}/publish`, { revision: 1 })
  return String(id)
}

export const setGateway = (scene: DenialScene, rules: object, more: object = {}) =>
  scene.change('/api/policy-gateway/config', { name: 'Acceptable use', policy_id: 'acceptable', rules, ...more }, 'PUT')

export const decidingOf = ({ outcomes }: Detail): Outcome | undefined => outcomes.find((outcome) => outcome.is_deciding)
export const markedIn = ({ text, evidence }: Marked): string[] =>
  evidence.map(({ start, end }) => text.slice(start, end))

/** One of each kind of check that denies a text. */
export const denials: readonly {
  readonly check: string
  readonly text: string
  readonly marked: string
  setUp(scene: DenialScene): Promise<unknown>
}[] = [
  { check: 'always_blocked', text: crisis, marked: crisis, setUp: async () => undefined },
  {
    check: 'gateway',
    text: 'The budget of project condor is large.',
    marked: 'project condor',
    setUp: (scene) => setGateway(scene, { denylist: ['project heron', 'project condor'] }),
  },
  {
    check: 'policy',
    text: 'They say the falcon flies at dawn.',
    marked: 'falcon',
    setUp: (scene) =>
      addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'both' }),
  },
]
