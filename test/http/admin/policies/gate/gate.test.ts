import assert from 'node:assert/strict'
import { scheduler } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '../../../../../src/base/clock.ts'
import {
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type Admin,
  type AdminApp,
  type Answer,
  type Json,
} from '../../../../support/administration.ts'

const rule = 'Never mention "Falcon".'
const outright = { says: 'asked outright', given: { text: 'What is Falcon?' }, expect: 'match' }

/** 0 of 100 is at most 2.96 %, 2 of 100 at most 6.16 %. */
const replay = { level: 'require', newly_blocked_bp: 300, min_events: 100 }

let count = 0
const createPolicy = async (admin: Admin, fields: Json = {}): Promise<string> => {
  const body = { name: `Policy ${++count}`, rule, mode: 'enforcing', direction: 'request', ...fields }
  return `/policies/${textOf(await admin.post('/policies', body))}`
}

const publish = (admin: Admin, policy: string, body: Json): Promise<Answer> =>
  admin.send('POST', `${policy}/publish`, { body })

async function runGate(admin: Admin, policy: string, revision: number): Promise<Json> {
  const { id } = await admin.post(`${policy}/gate`, { revision })
  for (;;) {
    const run = await admin.get(`${policy}/gate/${String(id)}`)
    if (run['state'] !== 'running') return run
    await scheduler.wait(50)
  }
}

async function setGate(admin: Admin, settings: Json): Promise<void> {
  const { revision } = await admin.get('/publish_gate')
  const { status, body } = await admin.send('PUT', '/publish_gate', { body: { revision, ...settings } })
  assert.equal(status, 200, JSON.stringify(body))
}

const itemsIn = (body: Json | undefined, field: string): unknown[] => (body?.[field] ?? []) as unknown[]

const gateOf = (event: Json | undefined): Json | undefined =>
  (event as { details?: { gate?: Json } } | undefined)?.details?.gate

const checksOf = ({ checks }: Json): string[] =>
  (checks as Json[]).map(({ kind, state }) => `${String(kind)} ${String(state)}`)

describe('the publish gate with recorded requests', () => {
  let app: AdminApp
  before(async () => {
    app = await startAdminApp({ config: { audit: { content: 'full' } } })
    for (let at = 0; at < 100; at += 1) {
      const content = at < 2 ? `What is Falcon? ${at}` : `Hello ${at}`
      const body = { model: 'gatehouse-echo', max_tokens: 8, messages: [{ role: 'user', content }] }
      assert.equal((await app.post('/v1/messages', body)).status, 200)
    }
    await setGate(app.admin, { replay })
  })
  after(() => app[Symbol.asyncDispose]())

  it('rejects a draft that denies 2 % of them, and publishes it with an override that the log shows', async () => {
    const policy = await createPolicy(app.admin)
    const early = await publish(app.admin, policy, { revision: 1 })
    assert.deepEqual([early.status, errorOf(early)['code']], [409, 'gate_not_passed'])
    assert.match(String(errorOf(early)['message']), /Run the gate first/)
    const run = await runGate(app.admin, policy, 1)
    assert.deepEqual([run['state'], checksOf(run)], ['failed', ['cases passed', 'newly_blocked failed']])
    const rejected = await publish(app.admin, policy, { revision: 1, gate_run: run['id'] })
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'gate_not_passed'])
    const [check] = errorOf(rejected)['checks'] as Json[]
    assert.partialDeepStrictEqual(check, { kind: 'newly_blocked', found: 2, of: 100, limit_bp: 300, bound_bp: 617 })
    assert.equal(itemsIn(check, 'examples').length, 2)

    const publisher = await app.adminWith(['policies:read', 'policies:publish'])
    const override = { reason: 'A leak is going on' }
    const forbidden = await publish(publisher, policy, { revision: 1, override })
    assert.equal(forbidden.status, 403)
    const tooShort = await publish(app.admin, policy, { revision: 1, override: { reason: 'Because' } })
    assert.deepEqual([tooShort.status, errorOf(tooShort)['param']], [422, 'override.reason'])
    const published = await publish(app.admin, policy, { revision: 1, override })
    assert.deepEqual([published.status, published.body['state']], [200, 'enforcing'])
    const [event] = itemsOf(await app.admin.get('/audit_logs?kind=policy.published'))
    assert.partialDeepStrictEqual(event?.['details'], {
      gate: {
        run_id: run['id'],
        state: 'failed',
        override: { reason: 'A leak is going on', code: 'gate_not_passed' },
      },
    })
  })

  it('publishes a draft that passes, with the numbers in the log', async () => {
    const policy = await createPolicy(app.admin, { rule: 'Never mention "Condor".' })
    const run = await runGate(app.admin, policy, 1)
    assert.equal(run['state'], 'passed')
    assert.equal((await publish(app.admin, policy, { revision: 1 })).status, 200)
    const [event] = itemsOf(await app.admin.get('/audit_logs?kind=policy.published'))
    const gate = gateOf(event)
    assert.partialDeepStrictEqual(gate, { run_id: run['id'], state: 'passed', digest: run['draft_digest'] })
    assert.partialDeepStrictEqual(itemsIn(gate, 'checks')[1], { kind: 'newly_blocked', found: 0, bound_bp: 296 })
  })

  it('does not take a run of an older text, also if another administrator changed it', async () => {
    const policy = await createPolicy(app.admin, { rule: 'Never mention "Condor".' })
    const run = await runGate(app.admin, policy, 1)
    const other = await app.adminWith(['*'])
    await other.send('PATCH', policy, { body: { revision: 1, rule } })
    const stale = await publish(app.admin, policy, { revision: 2, gate_run: run['id'] })
    assert.deepEqual([stale.status, errorOf(stale)['code']], [409, 'gate_stale'])
    assert.equal((await app.admin.get(`${policy}/gate/${String(run['id'])}`))['stale'], true)
    await other.send('PATCH', policy, { body: { revision: 2, rule: 'Never mention "Condor".' } })
    assert.equal((await publish(app.admin, policy, { revision: 3, gate_run: run['id'] })).status, 200)
  })

  it('does not replay requests for a key that may not read texts, and says so', async () => {
    const policy = await createPolicy(app.admin, { rule: 'Never mention "Condor".' })
    const author = await app.adminWith(['policies:read', 'policies:write', 'policies:publish'])
    const run = await runGate(author, policy, 1)
    assert.deepEqual([run['state'], run['backtest_id']], ['insufficient', null])
    assert.match(JSON.stringify(run['checks']), /content:read/)
    assert.equal((await publish(author, policy, { revision: 1 })).status, 409)
  })

  it('lets a draft into monitoring, and a version out of enforcement, without a run', async () => {
    const policy = await createPolicy(app.admin, { mode: 'monitoring' })
    assert.equal((await publish(app.admin, policy, { revision: 1 })).status, 200)
    await app.admin.send('PATCH', policy, { body: { revision: 2, mode: 'enforcing' } })
    assert.equal((await publish(app.admin, policy, { revision: 3 })).status, 409)
    const override = { reason: 'Tried in another place' }
    assert.equal((await publish(app.admin, policy, { revision: 3, override })).status, 200)
    assert.equal((await app.admin.send('POST', `${policy}/pause`, { body: { revision: 4 } })).status, 200)
    assert.equal((await app.admin.send('POST', `${policy}/resume`, { body: { revision: 5 } })).status, 200)
    await app.admin.send('PATCH', policy, { body: { revision: 6, mode: 'monitoring' } })
    assert.equal((await publish(app.admin, policy, { revision: 7 })).status, 200)
    const back = await app.admin.send('POST', `${policy}/rollback`, { body: { revision: 8, version: 2 } })
    assert.deepEqual([back.status, back.body['state']], [200, 'enforcing'])
  })
})

describe('the publish gate without recorded texts', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  it('asks nothing of a policy without cases, as long as nothing is set', async () => {
    const policy = await createPolicy(app.admin)
    const { status, body } = await publish(app.admin, policy, { revision: 1 })
    assert.deepEqual([status, body['state']], [200, 'enforcing'])
    const [event] = itemsOf(await app.admin.get('/audit_logs?kind=policy.published'))
    assert.equal(gateOf(event), undefined)
  })

  it('runs the cases when a policy is published, and names those that fail', async () => {
    const policy = await createPolicy(app.admin)
    const failing = await app.admin.post(`${policy}/cases`, { ...outright, expect: 'no_match' })
    const rejected = await publish(app.admin, policy, { revision: 1 })
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'gate_not_passed'])
    assert.partialDeepStrictEqual(errorOf(rejected)['checks'], [{ kind: 'cases', examples: [failing['id']] }])
    assert.deepEqual(itemsOf(await app.admin.get(`${policy}/gate`)), [], 'a rejected publication stores nothing')
    await app.admin.send('PATCH', `${policy}/cases/${textOf(failing)}`, { body: { revision: 1, expect: 'match' } })
    assert.equal((await publish(app.admin, policy, { revision: 1 })).status, 200)
    const [run] = itemsOf(await app.admin.get(`${policy}/gate`))
    assert.deepEqual(checksOf(run ?? {}).slice(0, 1), ['cases passed'])
  })

  it('does not take a run from before a case was added', async () => {
    const policy = await createPolicy(app.admin)
    await app.admin.post(`${policy}/cases`, outright)
    const run = await runGate(app.admin, policy, 1)
    await app.admin.post(`${policy}/cases`, { ...outright, expect: 'no_match' })
    const stale = await publish(app.admin, policy, { revision: 1, gate_run: run['id'] })
    assert.deepEqual([stale.status, errorOf(stale)['code']], [409, 'gate_stale'])
  })

  it('needs another person than the author, once each', async () => {
    await setGate(app.admin, { approvals: { level: 'require' } })
    try {
      const author = await app.adminWith(['*'])
      const policy = await createPolicy(author)
      const run = await runGate(author, policy, 1)
      const approve = (admin: Admin) => admin.send('POST', `${policy}/gate/${textOf(run)}/approve`)
      const { actor } = (await author.get('/me')) as { actor: Json }
      assert.deepEqual([run['author'], checksOf(run).at(-1)], [actor['id'], 'approvals failed'])
      assert.equal((await publish(author, policy, { revision: 1 })).status, 409)
      const own = await approve(author)
      assert.deepEqual([own.status, errorOf(own)['code']], [409, 'invalid_state'])
      const first = await approve(app.admin)
      assert.deepEqual([first.status, (first.body['approvals'] as Json[]).length], [200, 1])
      assert.equal((await approve(app.admin)).status, 200)
      assert.equal((await publish(author, policy, { revision: 1 })).status, 200)
      assert.equal(itemsOf(await app.admin.get('/audit_logs?kind=gate_run.approved')).length, 1)
    } finally {
      await setGate(app.admin, {})
    }
  })

  it('is tightened by a policy, and never loosened', async () => {
    const policy = await createPolicy(app.admin)
    const set = (body: Json) => app.admin.send('PUT', `${policy}/publish_gate`, { body })
    const { body: gate } = await set({ revision: 0, cases: { level: 'off' }, shadow: { level: 'require', hours: 2 } })
    assert.partialDeepStrictEqual(gate, {
      revision: 1,
      settings: { cases: { level: 'off' } },
      effective: { cases: { level: 'require' }, shadow: { level: 'require', hours: 24 } },
    })
    assert.equal((await set({ revision: 0 })).status, 409)
    const rejected = await publish(app.admin, policy, { revision: 1 })
    assert.partialDeepStrictEqual(errorOf(rejected)['checks'], [{ kind: 'shadow', state: 'not_run' }])
  })

  it('says which setting is invalid', async () => {
    const wrong = await app.admin.send('PUT', '/publish_gate', {
      body: { revision: 0, replay: { newly_blocked_bp: 10_001 } },
    })
    assert.deepEqual([wrong.status, errorOf(wrong)['param']], [422, 'replay.newly_blocked_bp'])
    const policy = await createPolicy(app.admin)
    const unknown = await publish(app.admin, policy, { revision: 1, gate_run: 'gate_unknown' })
    assert.deepEqual([unknown.status, errorOf(unknown)['param']], [422, 'gate_run'])
  })

  it('is changed only by a key that may override it', async () => {
    const publisher = await app.adminWith(['policies:read', 'policies:write', 'policies:publish'])
    assert.equal((await publisher.send('PUT', '/publish_gate', { body: { revision: 0 } })).status, 403)
    assert.equal((await publisher.send('GET', '/publish_gate')).status, 200)
  })
})

describe('the publish gate over time', () => {
  it('counts matches in monitoring without a text, and lets the rule through after its hours', async () => {
    let passedMs = 0
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
    await using app = await startAdminApp({ clock })
    await setGate(app.admin, { shadow: { level: 'require', hours: 2, min_requests: 20, max_match_bp: 2_000 } })
    const policy = await createPolicy(app.admin, { mode: 'monitoring' })
    assert.equal((await publish(app.admin, policy, { revision: 1 })).status, 200)
    for (let at = 0; at < 20; at += 1) {
      const body = { model: 'gatehouse-echo', max_tokens: 8, messages: [{ role: 'user', content: `Hello ${at}` }] }
      assert.equal((await app.post('/v1/messages', body)).status, 200)
    }
    await app.admin.send('PATCH', policy, { body: { revision: 2, mode: 'enforcing' } })
    const early = await publish(app.admin, policy, { revision: 3 })
    assert.partialDeepStrictEqual(errorOf(early)['checks'], [{ kind: 'shadow', state: 'insufficient' }])
    passedMs = 2 * 60 * 60 * 1000
    for (;;) {
      const counted = JSON.stringify(await app.admin.get(`${policy}/decisions`))
      if (counted.includes('"recorded":{"requests":20')) break
      await scheduler.wait(50)
    }
    const { status, body } = await publish(app.admin, policy, { revision: 3 })
    assert.deepEqual([status, body['state']], [200, 'enforcing'], JSON.stringify(body))
  })

  it('does not take a run that is older than a day', async () => {
    let passedMs = 0
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
    await using app = await startAdminApp({ clock })
    const policy = await createPolicy(app.admin)
    await app.admin.post(`${policy}/cases`, outright)
    const run = await runGate(app.admin, policy, 1)
    passedMs = 24 * 60 * 60 * 1000 + 1
    const stale = await publish(app.admin, policy, { revision: 1, gate_run: run['id'] })
    assert.deepEqual([stale.status, errorOf(stale)['code']], [409, 'gate_stale'])
    assert.equal((await publish(app.admin, policy, { revision: 1 })).status, 200, 'the cases are run again')
  })
})
