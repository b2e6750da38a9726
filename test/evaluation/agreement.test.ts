import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { callerFormats } from '../../src/domain/inference/formats.ts'
import { itemsOf, startAdminApp, textOf, type AdminApp, type Json } from '../support/administration.ts'
import { startUpstream } from '../support/upstream.ts'
import { sendPrompt } from './dialects.ts'
import { writeResponse } from './upstream-response.ts'

const fragments = [
  'falcon',
  'Project Falcon',
  'FAL-1234',
  'tea',
  'a nice day',
  'write to ada@example.org',
  'card 4111 1111 1111 1111',
  "I can't do this anymore. I want to kill myself tonight.",
  'fаlcon', // with a Cyrillic letter
  'f\u200balcon',
  Buffer.from('tell me all about the falcon').toString('base64'),
  'long '.repeat(150),
]

const text = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fragments) }, fc.string({ unit: 'grapheme' })), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(' '))
  .filter((joined) => joined.trim() !== '')

const some = <T>(...items: readonly T[]): fc.Arbitrary<T[]> => fc.subarray([...items])
const share = fc.record({
  enabled: fc.boolean(),
  sample_percent: fc.constantFrom(0, 50, 100),
  targets: some('eu', 'us'),
})

const configuration = fc.record({
  policy_id: fc.constant('tried'),
  rules: fc.record({
    allowlist: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, some('tea', 'day')),
    denylist: some('falcon', '/FAL-\\d+/', 'tea'),
    redact: fc.boolean(),
    rewrite_instead_of_refuse: fc.boolean(),
    response_pattern: fc.constantFrom(null, 'refuse', 'escalate', 'rewrite'),
    reason_codes: some('REFUSE_LEGAL', 'ESCALATE_DESK'),
    flagged_categories: some('hate', 'illicit'),
  }),
  rollout: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, fc.record({ shadow: share, canary: share })),
})

const rule = fc.constantFrom(
  'Never mention "Project Falcon".',
  'No self-harm and no email addresses.',
  'Be polite.',
  'cel:text.lowerAscii().contains("falcon")',
  'cel:text.matches("FAL-[0-9]+") || pii["card"] > 0',
  'cel:direction == "response" && text.contains("tea")',
  'cel:user == "ada" && model == "chat-model"',
  'cel:metadata.missing == "x"',
  'cel:categories["self-harm"]',
  'cel:text.contains("tea") || pii["email"] > 0 ? 0.95 : 0.0',
  'cel:text.matches("FAL-[0-9]+") ? 0.7 : 0.1',
)

const policy = fc.record({
  rule,
  mode: fc.constantFrom('monitoring', 'enforcing'),
  direction: fc.constantFrom('request', 'response', 'both'),
  scope: fc.constantFrom('organization', 'projects', 'unattached'),
  match_threshold_basis_points: fc.constantFrom(null, 100, 9_000),
})

const circumstances = fc.record({
  dialect: fc.constantFrom(...callerFormats),
  stream: fc.boolean(),
  user: fc.constantFrom('ada', 'bob', 'eve'),
  target: fc.constantFrom(undefined, 'eu', 'br'),
  flagged: some('hate' as const, 'sexual' as const),
})

/** At most one for each policy, for some of the requests. */
const exceptedSubjects = fc.array(fc.constantFrom('ada', 'bob', 'project', 'key', 'text', undefined), {
  minLength: 3,
  maxLength: 3,
})
const rules = fc.record({
  config: configuration,
  policies: fc.array(policy, { maxLength: 3 }),
  excepted: exceptedSubjects,
})
type Circumstances = typeof circumstances extends fc.Arbitrary<infer Value> ? Value : never

describe('evaluating and simulating a text', () => {
  const opened = new AsyncDisposableStack()
  let app: AdminApp
  let upstreamText = 'Fine.'
  let keyId = ''

  before(async () => {
    const upstream = await startUpstream((response, request) =>
      writeResponse('openai-chat', [{ type: 'text', text: upstreamText }], { request, response }),
    )
    opened.use(upstream)
    app = opened.use(
      await startAdminApp({
        config: {
          upstreams: [{ name: 'local', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
          models: [{ name: 'chat-model', targets: [{ upstream: 'local', model: 'm' }] }],
        },
      }),
    )
  })
  before(async () => {
    const keys = itemsOf(await app.admin.get(`/projects/${app.projectId}/api_keys`))
    keyId = textOf(keys.find((key) => textOf(key, 'name').includes('policy gateway')) ?? {})
  })
  after(() => opened.disposeAsync())

  const gateway = async (method: string, path: string, body: object): Promise<Json> => {
    const response = await fetch(`${app.url}/api/policy-gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as Json
    assert.equal(response.status, 200, JSON.stringify(answer))
    return answer
  }

  type Rules = {
    readonly config: object
    readonly policies: readonly Json[]
    readonly excepted: readonly (string | undefined)[]
  }

  async function makeException(id: string, subject: string, checked: string): Promise<void> {
    const subjects: Readonly<Record<string, Json>> = {
      project: { project_id: app.projectId },
      key: { key_id: keyId },
      text: { text: checked },
    }
    await app.admin.post(`/policies/${id}/exceptions`, {
      for: subjects[subject] ?? { user: subject },
      reason: 'A test',
      expires_at: Math.floor(Date.now() / 1000) + 3_600,
    })
  }

  /** Saves the rules, and removes the policies afterwards. */
  async function withRules(
    { config, policies, excepted }: Rules,
    checked: string,
    work: () => Promise<void>,
  ): Promise<void> {
    await gateway('PUT', '/config', config)
    const ids: string[] = []
    for (const [at, one] of policies.entries()) {
      const projects = one['scope'] === 'projects' ? { project_ids: [app.projectId] } : {}
      const id = textOf(await app.admin.post('/policies', { name: `Tried ${at}`, ...one, ...projects }))
      await app.admin.post(`/policies/${id}/publish`, { revision: 1 })
      ids.push(id)
      const subject = excepted[at]
      if (subject !== undefined) await makeException(id, subject, checked)
    }
    try {
      await work()
    } finally {
      for (const id of ids) await app.admin.send('DELETE', `/policies/${id}?revision=2`)
    }
  }

  async function requested(prompt: string, { dialect, stream, user, target, flagged }: Circumstances): Promise<Json> {
    const { policy: verdict } = await sendPrompt(app, dialect, {
      model: 'chat-model',
      text: prompt,
      stream,
      flaggedCategories: flagged,
      headers: { 'x-policy-user': user, ...(target === undefined ? {} : { 'x-policy-target': target }) },
    })
    const { event_id: _, ...rest } = verdict ?? { ...allowed }
    return rest
  }

  /** Both simulations of a text. They must agree with each other. */
  async function simulated(prompt: string, direction: string, circumstance: Circumstances): Promise<Json> {
    const { user, target, flagged } = circumstance
    const scenario = {
      text: prompt,
      direction,
      user,
      model: 'chat-model',
      flagged_categories: flagged,
      key_id: keyId,
      ...(target === undefined ? {} : { target }),
    }
    const simulation = await gateway('POST', '/simulate', { scenario })
    const evaluated = await app.admin.post('/evaluate', { scenario: { ...scenario, project_id: app.projectId } })
    const { check: _, ...verdict } = evaluated['verdict'] as Json
    for (const name of ['decision', 'effective_decision'])
      assert.equal(simulation[name], verdict[name], `simulate, ${name}`)
    if (verdict['decision'] !== 'allow')
      for (const name of ['reason_code', 'policy_id', 'enforced']) assert.equal(simulation[name], verdict[name], name)
    return verdict
  }

  it('gives a request the verdict that it really gets', async () => {
    await fc.assert(
      fc.asyncProperty(rules, text, circumstances, async (of, prompt, circumstance) => {
        upstreamText = 'Fine.'
        await withRules(of, prompt, async () => {
          const verdict = await simulated(prompt, 'request', circumstance)
          // The verdict of an allowed request is combined with that of its response, so only clean responses are compared.
          const isDenied = ['refuse', 'escalate'].includes(String(verdict['effective_decision']))
          fc.pre(isDenied || (await simulated(upstreamText, 'response', circumstance))['decision'] === 'allow')
          assert.deepEqual(verdict, await requested(prompt, circumstance))
        })
      }),
      { numRuns: 60 },
    )
  })

  it('gives a response the verdict that it really gets', async () => {
    await fc.assert(
      fc.asyncProperty(rules, text, circumstances, async (of, answer, circumstance) => {
        const prompt = 'A day with tea?'
        upstreamText = answer
        await withRules(of, answer, async () => {
          // The verdict of a response is combined with that of its request, so only clean requests are compared.
          fc.pre((await simulated(prompt, 'request', circumstance))['decision'] === 'allow')
          assert.deepEqual(await simulated(answer, 'response', circumstance), await requested(prompt, circumstance))
        })
      }),
      { numRuns: 40 },
    )
  })
})

/** A request that is allowed has no `policy` object. */
const allowed = {
  decision: 'allow',
  effective_decision: 'allow',
  enforced: true,
  rollout_mode: 'enforced',
  reason_code: 'ALLOW',
  policy_id: null,
  version: null,
  triggered_categories: [],
}
