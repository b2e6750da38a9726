import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addPolicy, openDenialScene, setGateway, type DenialScene } from '../../../support/denial-scene.ts'
import { publish, startScene, withJudge } from '../../../support/judge-scene.ts'
import { answerWith } from '../../../support/paid-app.ts'

type Explanation = {
  readonly decision: string
  readonly effective_decision: string
  readonly enforced: boolean
  readonly direction: string | null
  readonly basis: string
  readonly deciding: {
    readonly check: string
    readonly policy: { readonly id: string | null; readonly name: string | null; readonly version: number | null }
    readonly score_bp: number | null
    readonly threshold_bp: number | null
    readonly rollout: { readonly mode: string; readonly percent: number | null; readonly side: string }
  } | null
  readonly versions: { readonly gateway_config: number | null; readonly judge: string | null; readonly product: string }
  readonly evidence: readonly {
    readonly kind: string
    readonly name: string | null
    readonly part: string | null
    readonly start: number | null
    readonly end: number | null
    readonly quote: string | null
    readonly value: string | null
    readonly score_bp: number | null
  }[]
  readonly others: readonly { readonly check: string; readonly decision: string; readonly alone: string }[]
  readonly nearest: readonly {
    readonly change: string
    readonly check: string | null
    readonly policy_id: string | null
    readonly threshold_bp: number | null
    readonly part: string | null
    readonly quote: string | null
    readonly verified: boolean
    readonly also_affects: { readonly requests: number; readonly checked: number; readonly is_complete: boolean } | null
  }[]
  readonly differs: readonly { readonly field: string; readonly recorded: unknown; readonly rerun: unknown }[]
  readonly incomplete: readonly string[]
}

const crisis = 'I want to kill myself tonight.'
const insult = 'All immigrants are filthy vermin and must be exterminated.'

const adminOf = ({ adminKey }: DenialScene) => ({
  authorization: `Bearer ${adminKey}`,
  'content-type': 'application/json',
})

async function explain(scene: DenialScene, id: string, query = '?include=content'): Promise<Explanation> {
  const response = await scene.get(`/v1/organization/requests/${id}/explanation${query}`, adminOf(scene))
  const body = await response.text()
  assert.equal(response.status, 200, body)
  return JSON.parse(body) as Explanation
}

/** One case of each kind of rule: what it names, and the words without which the text passes. */
const kinds: readonly {
  readonly kind: string
  readonly text: string
  readonly check: string
  readonly evidence: readonly [kind: string, name: string, quote: string | null]
  readonly without: string | null
  readonly more?: object
  setUp(scene: DenialScene): Promise<unknown>
}[] = [
  {
    kind: 'a denied term',
    text: 'The budget of project condor is large.',
    check: 'gateway',
    evidence: ['term', 'project condor', 'project condor'],
    without: 'condor',
    setUp: (scene) => setGateway(scene, { denylist: ['project heron', 'project condor'] }),
  },
  {
    kind: 'a category of the configuration',
    text: `Listen to me. ${insult}`,
    check: 'gateway',
    evidence: ['category', 'hate', insult],
    without: null,
    setUp: (scene) => setGateway(scene, { flagged_categories: ['hate'] }),
  },
  {
    kind: 'a category that is always blocked',
    text: crisis,
    check: 'always_blocked',
    evidence: ['category', 'self-harm', crisis],
    without: null,
    setUp: async () => undefined,
  },
  {
    kind: 'personal data that a rule names',
    text: 'Please write to ada@example.com today.',
    check: 'policy',
    evidence: ['personal_data', 'email', 'ada@example.com'],
    without: 'ada@example.com',
    setUp: (scene) => addPolicy(scene, { name: 'No addresses', rule: 'No email addresses.', direction: 'both' }),
  },
  {
    kind: 'an expression',
    text: 'Please write to ada@example.com and eve@example.com today.',
    check: 'policy',
    evidence: ['expression', 'pii["email"] > 1', null],
    without: 'ada@example.com',
    setUp: (scene) =>
      addPolicy(scene, {
        name: 'No lists',
        rule: 'cel:text.contains("falcon") || pii["email"] > 1',
        direction: 'both',
      }),
  },
  {
    kind: 'a phrase',
    text: 'What do you know about Project Falcon these days?',
    check: 'policy',
    evidence: ['phrase', 'Project Falcon', 'Project Falcon'],
    without: 'Falcon',
    setUp: (scene) =>
      addPolicy(scene, { name: 'No code names', rule: 'Never mention "Project Falcon".', direction: 'both' }),
  },
]

describe('the explanation of a denial', () => {
  for (const { kind, text, check, evidence, without, setUp } of kinds)
    for (const place of ['request', 'response', 'stream'] as const)
      it(`names the rule, its version and what it acted on, for ${kind} in a ${place}`, async () => {
        await using scene = await openDenialScene()
        await setUp(scene)
        const stream = place === 'stream'
        const detail = await scene.ask(place === 'request' ? { prompt: text } : { answer: text, stream })
        assert.equal(detail.status, 'denied')
        const explanation = await explain(scene, detail.id)
        const { deciding } = explanation
        assert.deepEqual(
          [explanation.basis, explanation.decision, explanation.direction, deciding?.check, deciding?.policy.name],
          ['rerun', 'refuse', place === 'request' ? 'request' : 'response', check, detail.policy_name],
        )
        assert.deepEqual([explanation.differs, explanation.incomplete], [[], []])
        assert.deepEqual(deciding?.rollout.side, 'enforced')
        const found = explanation.evidence.find((one) => one.kind === evidence[0] && one.name === evidence[1])
        assert.ok(found, JSON.stringify(explanation.evidence))
        assert.equal(found.quote, evidence[2])
        if (found.quote !== null) {
          assert.equal(found.part, place === 'request' ? 'messages[0]' : 'response')
          assert.equal(text.slice(found.start ?? 0, found.end ?? 0), found.quote)
        }
        const span = explanation.nearest.find(({ change }) => change === 'without_text')
        if (without !== null) assert.equal(span?.quote, without)
      })

  it('names the requested category', async () => {
    await using scene = await openDenialScene()
    const { id } = await scene.ask({ prompt: insult, more: { flagged_categories: ['hate'] } })
    const { deciding, evidence, nearest } = await explain(scene, id)
    assert.equal(deciding?.check, 'requested')
    assert.deepEqual(
      evidence.map(({ kind, name }) => [kind, name]),
      [['category', 'hate']],
    )
    assert.ok(nearest.some(({ change, check }) => change === 'without_check' && check === 'requested'))
  })

  it('gives the score and the version of a judge, asks it nothing, and no part of the text', async () => {
    await using scene = await startScene(withJudge())
    scene.judge.answer(answerWith('{"score": 0.9}', { input: 200, output: 8 }))
    await publish(scene.app, 'Be polite.')
    const sent = await scene.app.post('/v1/messages', {
      model: 'default-model',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'You fool' }],
    })
    assert.equal(sent.status, 400)
    const path = `/requests/${sent.headers.get('x-request-id')}/explanation`
    const explanation = (await scene.app.admin.get(path)) as unknown as Explanation
    assert.deepEqual(
      explanation.evidence.map(({ kind, score_bp: score, part, quote }) => [kind, score, part, quote]),
      [['judge', 9_000, null, null]],
    )
    assert.match(explanation.versions.judge ?? '', /^judge-model@/)
    assert.deepEqual(
      explanation.nearest.map(({ change, threshold_bp: threshold }) => [change, threshold]),
      [
        ['threshold', 9_001],
        ['without_check', null],
      ],
    )
    assert.equal(scene.judge.requests.length, 1)
  })

  it('says which numbers an expression compared', async () => {
    await using scene = await openDenialScene()
    await addPolicy(scene, { name: 'No lists', rule: 'cel:text.contains("falcon") || pii["email"] > 1' })
    const { id } = await scene.ask({ prompt: 'ada@example.com and eve@example.com' })
    const { evidence } = await explain(scene, id)
    const parts = evidence.filter(({ kind }) => kind === 'expression')
    assert.deepEqual(
      parts.map(({ name, value }) => [name, value]),
      [['pii["email"] > 1', 'true, pii["email"] = 2']],
    )
  })

  it('lists the other checks with what each would have decided alone', async () => {
    await using scene = await openDenialScene()
    await setGateway(scene, { denylist: ['condor'] }, { rollout: { shadow: { enabled: true, sample_percent: 100 } } })
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")' })
    await addPolicy(scene, { name: 'No birds', rule: 'cel:text.contains("falcon")' })
    const { id } = await scene.ask({ prompt: 'the condor and the falcon' })
    const { others, nearest } = await explain(scene, id)
    assert.deepEqual(
      others.map(({ check, decision, alone }) => [check, decision, alone]),
      [
        ['always_blocked', 'allow', 'allow'],
        ['gateway', 'refuse', 'allow'],
        ['policy', 'refuse', 'refuse'],
      ],
    )
    // Two policies deny it, so no single one of them is the cause.
    assert.deepEqual(
      nearest.map(({ change, quote }) => [change, quote]),
      [['without_text', 'falcon']],
    )
  })
})

describe('the nearest threshold', () => {
  it('is one above the score, and says how many other requests it would have let through', async () => {
    await using scene = await openDenialScene('none')
    await addPolicy(scene, { name: 'Rather not', rule: 'cel:text.contains("falcon") ? 0.6 : 0.2' })
    const { id } = await scene.ask({ prompt: 'one falcon' })
    await scene.ask({ prompt: 'two falcons' })
    await scene.ask({ prompt: 'a condor' })
    const { nearest, basis } = await explain(scene, id)
    assert.equal(basis, 'record')
    assert.deepEqual(
      nearest.map(({ change, threshold_bp: threshold, also_affects: affects }) => [change, threshold, affects]),
      [
        ['threshold', 6_001, { requests: 1, checked: 1, is_complete: true }],
        ['without_check', null, null],
      ],
    )
  })
})

describe('an explanation without kept texts', () => {
  it('has the facts of the record, and no change that needs a text', async () => {
    await using scene = await openDenialScene('none')
    await setGateway(scene, { denylist: ['project condor'] })
    const { id } = await scene.ask({ prompt: 'What is project condor?' })
    const { basis, evidence, nearest, versions } = await explain(scene, id)
    assert.deepEqual([basis, versions.gateway_config], ['record', 1])
    assert.deepEqual(
      evidence.map(({ kind, name, quote }) => [kind, name, quote]),
      [['term', 'project condor', null]],
    )
    assert.deepEqual(
      nearest.map(({ change, check }) => [change, check]),
      [['without_check', 'gateway']],
    )
  })

  it('says that a response ended at its denial, so that a change is not verified', async () => {
    await using scene = await openDenialScene('none')
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'response' })
    const { id } = await scene.ask({ answer: 'about the falcon' })
    const { nearest } = await explain(scene, id)
    assert.deepEqual(
      nearest.map(({ change, verified }) => [change, verified]),
      [['without_check', false]],
    )
  })

  it('evaluates a text that is sent along, and says where it gets another verdict', async () => {
    await using scene = await openDenialScene('none')
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'both' })
    const asked = await scene.ask({ prompt: 'about the falcon' })
    const path = `/v1/organization/requests/${asked.id}/explanation`
    const same = (await scene.change(path, { text: 'about the falcon' })) as unknown as Explanation
    assert.deepEqual([same.basis, same.differs], ['rerun_of_sent_text', []])
    assert.deepEqual(
      same.nearest.filter(({ change }) => change === 'without_text').map(({ part, quote }) => [part, quote]),
      [['messages[0].content[0]', 'falcon']],
    )
    const other = (await scene.change(path, { messages: [{ content: 'about tea' }] })) as unknown as Explanation
    assert.deepEqual(other.differs[0], { field: 'decision', recorded: 'refuse', rerun: 'allow' })
    assert.equal(other.decision, 'refuse')
  })

  it('rejects a body without any text, and names the field of a message that cannot be decoded', async () => {
    await using scene = await openDenialScene('none')
    const { id } = await scene.ask({ prompt: 'hello' })
    const send = async (body: object) => {
      const response = await fetch(`${scene.url}/v1/organization/requests/${id}/explanation`, {
        method: 'POST',
        headers: adminOf(scene),
        body: JSON.stringify(body),
      })
      const { error } = (await response.json()) as { error: { param: string } }
      return [response.status, error.param]
    }
    assert.deepEqual(await send({}), [422, 'messages'])
    assert.deepEqual(await send({ response: '' }), [422, 'messages'])
    const [status, param] = await send({ messages: [{ content: [{ type: 'text' }] }] })
    assert.equal(status, 422)
    assert.match(String(param), /^messages/)
  })
})

describe('a rerun', () => {
  it('uses the versions that decided, whatever is in force today', async () => {
    await using scene = await openDenialScene()
    await setGateway(scene, { denylist: ['project condor'] })
    const policy = await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")' })
    const { id } = await scene.ask({ prompt: 'project condor and the falcon' })
    await setGateway(scene, { denylist: [] })
    const deleted = await fetch(`${scene.url}/v1/organization/policies/${policy}?revision=2`, {
      method: 'DELETE',
      headers: adminOf(scene),
    })
    assert.equal(deleted.status, 200)
    const { basis, differs, incomplete, versions } = await explain(scene, id)
    assert.deepEqual([basis, differs, incomplete, versions.gateway_config], ['rerun', [], [], 1])
  })

  it('that decides otherwise, because personal data was replaced in the kept text, is listed as such', async () => {
    await using scene = await openDenialScene('redacted')
    await addPolicy(scene, { name: 'No lists', rule: 'cel:pii["email"] > 0' })
    const { id } = await scene.ask({ prompt: 'write to ada@example.com' })
    const { decision, basis, differs, incomplete } = await explain(scene, id)
    assert.deepEqual([decision, basis], ['refuse', 'rerun'])
    assert.deepEqual(differs[0], { field: 'decision', recorded: 'refuse', rerun: 'allow' })
    assert.ok(incomplete.includes('personal_data'))
  })

  it('evaluates a canary on the side that the request was on', async () => {
    await using scene = await openDenialScene()
    const canary = { enabled: true, sample_percent: 0, targets: [] }
    await setGateway(scene, { denylist: ['condor'] }, { rollout: { canary } })
    const { id } = await scene.ask({ prompt: 'the condor' })
    const { deciding, effective_decision: effective, enforced, differs } = await explain(scene, id)
    assert.deepEqual([effective, enforced, differs], ['allow', false, []])
    assert.deepEqual(deciding?.rollout, { mode: 'canary', percent: 0, side: 'observed' })
  })

  it('of an allowed request finds nothing', async () => {
    await using scene = await openDenialScene()
    const { id } = await scene.ask({ prompt: 'hello' })
    const { decision, deciding, evidence, nearest, differs } = await explain(scene, id)
    assert.deepEqual([decision, deciding, evidence, nearest, differs], ['allow', null, [], [], []])
  })
})

describe('the texts of an explanation', () => {
  const rule = 'cel:text.contains("falcon")'
  const keyWith = async (scene: DenialScene, permissions: readonly string[]): Promise<string> => {
    const { value } = await scene.change('/v1/organization/admin_api_keys', { name: 'reader', permissions })
    return String(value)
  }
  const read = (scene: DenialScene, key: string, path: string) =>
    scene.get(`/v1/organization/requests/${path}`, { authorization: `Bearer ${key}` })

  it('are shown only with content:read, and each reading is in the audit log', async () => {
    await using scene = await openDenialScene()
    await addPolicy(scene, { name: 'No code names', rule })
    const { id } = await scene.ask({ prompt: 'Tell Wilhelmina about the falcon' })
    const key = await keyWith(scene, ['audit:read', 'policies:read'])
    assert.equal((await read(scene, key, `${id}/explanation?include=content`)).status, 403)
    const without = await (await read(scene, key, `${id}/explanation`)).text()
    assert.doesNotMatch(without, /Wilhelmina|"quote":"/)
    assert.match(without, /"part":"messages\[0\]"/)
    const reader = await keyWith(scene, ['audit:read', 'content:read'])
    assert.match(await (await read(scene, reader, `${id}/explanation?include=content`)).text(), /"quote":"falcon"/)
    const log = await scene.get('/v1/organization/audit_logs?kind=audit.content.read', adminOf(scene))
    const { data } = (await log.json()) as { data: { details: { level?: string } }[] }
    assert.equal(data.filter(({ details }) => details.level === 'quotes').length, 1)
  })

  it('and the words of rules are left out without policies:read', async () => {
    await using scene = await openDenialScene()
    await addPolicy(scene, { name: 'No code names', rule })
    const { id } = await scene.ask({ prompt: 'about the falcon' })
    const key = await keyWith(scene, ['audit:read'])
    assert.doesNotMatch(await (await read(scene, key, `${id}/explanation`)).text(), /falcon/)
  })
})
