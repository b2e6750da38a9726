import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { answerJson, answerStream, startUpstream, type TestUpstream } from '../../../support/upstream.ts'

type Outcome = {
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
type Marked = { readonly text: string; readonly evidence: readonly { check: string; start: number; end: number }[] }
type Detail = {
  readonly status: string
  readonly check: string | null
  readonly policy_name: string | null
  readonly direction: string
  readonly outcomes: readonly Outcome[]
  readonly content: { prompt: Marked; response: Marked & { withheld_from: number | null } } | null
}

const crisis = 'I want to kill myself tonight.'
const insult = 'All immigrants are filthy vermin and must be exterminated.'

type Scene = TestApp & {
  readonly upstream: TestUpstream
  change(path: string, body: object, method?: string): Promise<Record<string, unknown>>
  /** Sends a request to the scripted upstream and reads what the console shows of it. */
  ask(sent: Sent): Promise<Detail>
}
type Sent = { readonly prompt?: string; readonly answer?: string; readonly stream?: boolean; readonly more?: object }

async function openScene(content: 'none' | 'redacted' | 'full' = 'full'): Promise<Scene> {
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
    upstream,
    async change(path, body, method = 'POST') {
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

async function addPolicy(scene: Scene, fields: object): Promise<string> {
  const { id } = await scene.change('/v1/organization/policies', { mode: 'enforcing', ...fields })
  await scene.change(`/v1/organization/policies/${String(id)}/publish`, { revision: 1 })
  return String(id)
}

const setGateway = (scene: Scene, rules: object, more: object = {}) =>
  scene.change('/api/policy-gateway/config', { name: 'Acceptable use', policy_id: 'acceptable', rules, ...more }, 'PUT')

const decidingOf = ({ outcomes }: Detail): Outcome | undefined => outcomes.find((outcome) => outcome.is_deciding)
const markedIn = ({ text, evidence }: Marked): string[] => evidence.map(({ start, end }) => text.slice(start, end))

const kinds: readonly {
  readonly check: string
  readonly text: string
  readonly marked: string
  setUp(scene: Scene): Promise<unknown>
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

describe('why a request was denied', () => {
  for (const { check, text, marked, setUp } of kinds) {
    it(`names the check ${check} and the words that matched, for a request`, async () => {
      await using scene = await openScene()
      await setUp(scene)
      const detail = await scene.ask({ prompt: text })
      assert.deepEqual([detail.status, detail.check, detail.direction], ['denied', check, 'request'])
      assert.deepEqual([decidingOf(detail)?.check, decidingOf(detail)?.is_enforced], [check, true])
      assert.deepEqual(markedIn(detail.content?.prompt as Marked).map(trimRole), [marked])
      assert.equal(detail.content?.response.withheld_from, null)
    })

    for (const stream of [false, true])
      it(`names the check ${check} and the words that matched, for a ${stream ? 'stream' : 'whole response'}`, async () => {
        await using scene = await openScene()
        await setUp(scene)
        const opening = 'Here is what I know about it. '.repeat(stream ? 20 : 1)
        const detail = await scene.ask({ answer: opening + text, stream })
        assert.deepEqual([detail.check, detail.direction, decidingOf(detail)?.check], [check, 'response', check])
        const response = detail.content?.response
        assert.ok(response?.withheld_from !== null && response?.withheld_from !== undefined)
        assert.equal(response.text, opening + text)
        if (!stream) assert.equal(response.withheld_from, 0)
        assert.deepEqual(markedIn(response), [marked])
        assert.ok((response.evidence[0]?.end ?? 0) > response.withheld_from, 'what matched was sent whole')
      })
  }

  it('names the requested category', async () => {
    await using scene = await openScene()
    const detail = await scene.ask({ prompt: insult, more: { flagged_categories: ['hate'] } })
    assert.deepEqual([detail.check, decidingOf(detail)?.categories], ['requested', ['hate']])
  })

  it('names the configuration, its version and its term, also without kept texts', async () => {
    await using scene = await openScene('none')
    await setGateway(scene, { denylist: ['project heron', 'project condor'] })
    const detail = await scene.ask({ prompt: 'What is project condor?' })
    await setGateway(scene, { denylist: [] })
    const { name, version, terms } = decidingOf(detail) ?? {}
    assert.deepEqual(
      [name, version, terms, detail.policy_name],
      ['Acceptable use', 1, ['project condor'], 'Acceptable use'],
    )
    assert.equal(detail.content, null)
  })

  it('counts the personal data that was replaced', async () => {
    await using scene = await openScene()
    await setGateway(scene, { redact: true })
    const detail = await scene.ask({ prompt: 'Call me at +49 170 1234567 or write to ada@example.com' })
    assert.equal(detail.status, 'ok')
    assert.deepEqual(decidingOf(detail)?.personal_data, [
      { kind: 'email', count: 1 },
      { kind: 'phone', count: 1 },
    ])
  })

  it('says if a request contains none of the allowed terms', async () => {
    await using scene = await openScene()
    await setGateway(scene, { allowlist: ['invoice'] })
    const detail = await scene.ask({ prompt: 'Tell me a joke' })
    assert.deepEqual([decidingOf(detail)?.check, decidingOf(detail)?.has_no_allowed_term], ['gateway', true])
  })
})

describe('the checks of a request', () => {
  it('are all listed, each enforced or monitoring on its own', async () => {
    await using scene = await openScene()
    await setGateway(scene, { redact: true })
    await addPolicy(scene, { name: 'No medical advice', rule: 'cel:text.contains("aspirin")', mode: 'monitoring' })
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")' })
    const detail = await scene.ask({
      prompt: 'Send aspirin to ada@example.com',
      more: { flagged_categories: ['hate'] },
    })
    assert.deepEqual(
      detail.outcomes.map(({ check, name, decision, is_enforced: isEnforced, is_deciding: isDeciding }) => [
        check,
        name,
        decision,
        isEnforced,
        isDeciding,
      ]),
      [
        ['always_blocked', null, 'allow', true, false],
        ['requested', null, 'allow', true, false],
        ['gateway', 'Acceptable use', 'redact', true, true],
        ['policy', 'No medical advice', 'refuse', false, false],
        ['policy', 'No code names', 'allow', true, false],
      ],
    )
  })

  it('include a gateway configuration that is only observed', async () => {
    await using scene = await openScene()
    await setGateway(scene, { denylist: ['condor'] }, { rollout: { shadow: { enabled: true } } })
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")' })
    const detail = await scene.ask({ prompt: 'the condor and the falcon' })
    const gateway = detail.outcomes.find(({ check }) => check === 'gateway')
    assert.deepEqual([gateway?.decision, gateway?.is_enforced, gateway?.terms], ['refuse', false, ['condor']])
    assert.deepEqual([detail.check, decidingOf(detail)?.name], ['policy', 'No code names'])
  })
})

describe('a withheld response', () => {
  it('is kept without personal data if only redacted texts are kept', async () => {
    await using scene = await openScene('redacted')
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'response' })
    const detail = await scene.ask({ answer: 'Write to ada@example.com about the falcon.' })
    const response = detail.content?.response
    assert.doesNotMatch(JSON.stringify(detail), /ada@example\.com/)
    assert.deepEqual([response?.withheld_from, response && markedIn(response)], [0, ['falcon']])
  })

  it('is not sent to the destinations of the audit log as a response', async () => {
    await using scene = await openScene('full')
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'response' })
    await scene.ask({ answer: 'about the falcon' })
    const exported = await scene.get('/v1/organization/audit_logs/export?content=full', {
      authorization: `Bearer ${scene.adminKey}`,
    })
    assert.doesNotMatch(await exported.text(), /about the falcon/)
  })
})

const trimRole = (text: string): string => text.replace(/^user: /, '')
