import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, type Json } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

type Evidence = Json & { readonly where: Json | null; readonly start: number; readonly end: number }

const evaluation = (body: Json) => ({
  verdict: body['verdict'] as Json,
  outcomes: body['outcomes'] as Json[],
  evidence: body['evidence'] as Evidence[],
  scores: body['scores'] as Record<string, number>,
  timings: body['timings'] as Record<string, number>,
})

const part = (message: number, at: number): Json => ({ kind: 'part', message, part: at })

describe('evaluating a text', () => {
  const { admin, app, policy } = adminSuite()
  const evaluate = async (body: object) => evaluation(await admin().post('/evaluate', body))
  const spanOf = ({ kind, name, where, start, end, text }: Evidence): unknown[] => [kind, name, where, start, end, text]

  it('allows a harmless text, and lists every check', async () => {
    const { verdict, outcomes, evidence, scores, timings } = await evaluate({ scenario: { text: 'Good morning' } })
    assert.deepEqual(verdict, {
      decision: 'allow',
      effective_decision: 'allow',
      enforced: true,
      rollout_mode: 'enforced',
      reason_code: 'ALLOW',
      check: null,
      policy_id: null,
      version: null,
      triggered_categories: [],
    })
    assert.deepEqual(
      outcomes.map(({ check, decision, threshold_bp: threshold }) => [check, decision, threshold]),
      [
        ['always_blocked', 'allow', 5000],
        ['gateway', 'allow', null],
      ],
    )
    assert.deepEqual(evidence, [])
    assert.equal(Object.keys(scores).length, 6)
    assert.deepEqual(Object.keys(timings), ['rules_ms', 'evaluation_ms', 'evidence_ms'])
  })

  it('shows where a denied term is, with offsets in the original text', async () => {
    const text = 'Täll mé about  Pröject   X, please'
    const { verdict, evidence } = await evaluate({
      gateway: { policy_id: 'tried', rules: { denylist: ['project x'] } },
      scenario: { text },
    })
    assert.deepEqual([verdict['decision'], verdict['check'], verdict['policy_id']], ['refuse', 'gateway', 'tried'])
    assert.deepEqual(evidence.map(spanOf), [['term', 'project x', part(0, 0), 15, 26, 'Pröject   X']])
    assert.equal(text.slice(15, 26), 'Pröject   X')
  })

  it('names the message and the part that the evidence is in', async () => {
    const messages = [
      { role: 'user', content: 'hello' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I search.' },
          { type: 'tool_use', id: 'toolu_1', name: 'find', input: { what: 'the falcon' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'A falcon.' }] },
    ]
    const { evidence } = await evaluate({ gateway: { rules: { denylist: ['falcon'] } }, scenario: { messages } })
    assert.deepEqual(
      evidence.map(({ where, text }) => [where, text]),
      [
        [part(1, 1), 'falcon'],
        [part(2, 0), 'falcon'],
      ],
    )
  })

  it('shows a term that is split over two parts', async () => {
    const content = ['proj', 'ect x'].map((text) => ({ type: 'text', text }))
    const { verdict, evidence } = await evaluate({
      gateway: { rules: { denylist: ['project x'] } },
      scenario: { messages: [{ role: 'user', content }] },
    })
    assert.equal(verdict['decision'], 'refuse')
    const where = { kind: 'joined', message: null, part: null }
    assert.deepEqual(evidence.map(spanOf), [['term', 'project x', where, 0, 9, 'project x']])
  })

  it('shows the sentence behind an always-blocked category', async () => {
    const sentence = 'I want to kill myself tonight.'
    const { verdict, evidence } = await evaluate({
      scenario: { text: `It rains in Rome. ${sentence} The bus is late.` },
    })
    assert.deepEqual([verdict['check'], verdict['triggered_categories']], ['always_blocked', ['self-harm']])
    assert.deepEqual([evidence[0]?.['name'], String(evidence[0]?.['text']).trim()], ['self-harm', sentence])
  })

  it('shows personal data that would be redacted', async () => {
    const { verdict, evidence } = await evaluate({
      gateway: { rules: { redact: true } },
      scenario: { text: 'ada@example.org, 4111 1111 1111 1111' },
    })
    assert.equal(verdict['decision'], 'redact')
    assert.deepEqual(
      evidence.map(({ name, text }) => [name, text]),
      [
        ['email', 'ada@example.org'],
        ['card', '4111 1111 1111 1111'],
      ],
    )
  })

  it('says that no allowed term was found', async () => {
    const { evidence } = await evaluate({ gateway: { rules: { allowlist: ['tea'] } }, scenario: { text: 'coffee' } })
    assert.deepEqual(
      evidence.map(({ check, kind, where }) => [check, kind, where]),
      [['gateway', 'no_allowed_term', null]],
    )
  })

  it('evaluates contents that are not stored, with what each rule matched', async () => {
    const { outcomes, evidence } = await evaluate({
      policies: [
        { name: 'Names', rule: 'Never mention "Project Falcon", and no email addresses.', mode: 'enforcing' },
        { rule: 'cel:text.lowerAscii().contains("falcon") && user == "ada"', match_threshold_basis_points: 9000 },
        { rule: 'cel:text.matches("[0-9]{4}")' },
        { rule: 'Be polite.' },
        { rule: 'cel:1.0 / 0.0 > 1.0 && metadata.team == "red"' },
        { rule: 'No IBANs', direction: 'response' },
      ],
      scenario: { text: 'PROJECT FALCON: mail ada@example.org', user: 'ada' },
    })
    const ofPolicies = outcomes.filter(({ check }) => check === 'policy')
    assert.deepEqual(
      ofPolicies.map((each) => [
        each['policy_id'],
        each['version'],
        each['name'],
        each['decision'],
        each['not_evaluated'],
      ]),
      [
        ['policies[0]', null, 'Names', 'refuse', null],
        ['policies[1]', null, null, 'refuse', null],
        ['policies[2]', null, null, 'allow', null],
        ['policies[3]', null, null, 'not_evaluated', 'rule_not_evaluable'],
        ['policies[4]', null, null, 'not_evaluated', 'expression_error'],
        ['policies[5]', null, null, 'not_evaluated', 'other_direction'],
      ],
    )
    assert.deepEqual(
      ofPolicies.slice(0, 3).map((each) => [each['score_bp'], each['threshold_bp'], each['enforced']]),
      [
        [10_000, 5000, true],
        [10_000, 9000, false],
        [0, 5000, false],
      ],
    )
    assert.deepEqual(
      evidence.map(({ policy_id: id, kind, name, text }) => [id, kind, name, text]),
      [
        ['policies[1]', 'variable', 'user', 'ada'],
        ['policies[0]', 'phrase', 'Project Falcon', 'PROJECT FALCON'],
        ['policies[0]', 'personal_data', 'email', 'ada@example.org'],
        ['policies[1]', 'phrase', 'falcon', 'FALCON'],
      ],
    )
  })

  it('evaluates the draft of a policy beside those in force', async () => {
    const published = await policy({ rule: 'Never say "rum".', mode: 'enforcing' }, ['publish'])
    const id = String(published['id'])
    await admin().send('PATCH', `/policies/${id}`, { body: { revision: 2, rule: 'Never say "gin".' } })
    const other = await policy({ rule: 'Never say "ale".', mode: 'enforcing' }, ['publish'])
    const decisionOn = async (text: string, policies?: unknown) => {
      const { verdict } = await evaluate({ scenario: { text }, ...(policies === undefined ? {} : { policies }) })
      return [verdict['effective_decision'], verdict['policy_id'], verdict['version']]
    }
    const draft = { policy_id: id, use: 'draft' }
    assert.deepEqual(await decisionOn('rum'), ['refuse', id, 1])
    assert.deepEqual(await decisionOn('rum', 'in_force'), ['refuse', id, 1])
    assert.deepEqual(await decisionOn('rum', ['in_force', draft]), ['allow', null, null])
    assert.deepEqual(await decisionOn('gin', ['in_force', draft]), ['refuse', id, null])
    assert.deepEqual(await decisionOn('ale', ['in_force', draft]), ['refuse', other['id'], 1])
    assert.deepEqual(await decisionOn('ale', [draft]), ['allow', null, null])
    assert.deepEqual(await decisionOn('rum', [{ policy_id: id, use: 'published' }]), ['refuse', id, 1])
    assert.deepEqual(await decisionOn('rum', []), ['allow', null, null])
    const leftOut = { policy_id: id, use: 'none' }
    assert.deepEqual(await decisionOn('rum', ['in_force', leftOut]), ['allow', null, null])
    assert.deepEqual(await decisionOn('ale', ['in_force', leftOut]), ['refuse', other['id'], 1])
    for (const [own, revision] of [
      [id, 3],
      [other['id'], 2],
    ] as const)
      await admin().send('DELETE', `/policies/${String(own)}?revision=${revision}`)
  })

  it('applies a policy of some projects only to them, and an unattached one always', async () => {
    const { projectId } = app()
    const listed = [
      { rule: 'Say "no"', mode: 'enforcing', scope: 'projects', project_ids: [projectId] },
      { rule: 'Say "no"', mode: 'enforcing', scope: 'unattached' },
    ]
    const outcomesIn = async (scenario: Json) =>
      (await evaluate({ policies: listed, scenario })).outcomes
        .filter(({ check }) => check === 'policy')
        .map(({ policy_id: id, decision, not_evaluated: reason }) => [id, decision, reason])
    assert.deepEqual(await outcomesIn({ text: 'no', project_id: projectId }), [
      ['policies[0]', 'refuse', null],
      ['policies[1]', 'refuse', null],
    ])
    assert.deepEqual(await outcomesIn({ text: 'no' }), [
      ['policies[1]', 'refuse', null],
      ['policies[0]', 'not_evaluated', 'other_project'],
    ])
  })

  it('blocks the categories that the scenario flags', async () => {
    const scenario = { text: 'Good morning', flagged_categories: ['hate'] }
    const { outcomes } = await evaluate({ scenario })
    assert.deepEqual(
      outcomes.map(({ check }) => check),
      ['always_blocked', 'requested', 'gateway'],
    )
  })

  it('evaluates a response as its stream is evaluated', async () => {
    const gateway = { rules: { denylist: ['falcon'], allowlist: ['tea'] } }
    const policies = [{ rule: 'cel:text.endsWith("!")', mode: 'enforcing' }]
    const scenario = { text: 'A falcon!', direction: 'response' }
    const { verdict, evidence } = await evaluate({ gateway, policies, scenario })
    assert.deepEqual([verdict['effective_decision'], verdict['check']], ['refuse', 'gateway'])
    assert.ok(evidence.some(({ kind, text }) => kind === 'term' && text === 'falcon'))
  })

  it('stores nothing and counts nothing', async () => {
    const events = async () => itemsOf(await admin().get('/audit_logs?limit=100')).length
    const before = await events()
    await evaluate({ scenario: { text: 'Hello' } })
    assert.equal(await events(), before)
    const config = await fetch(`${app().url}/api/policy-gateway/config`, {
      headers: { authorization: `Bearer ${app().adminKey}` },
    })
    assert.equal(((await config.json()) as Json)['version'], 0)
  })
})
