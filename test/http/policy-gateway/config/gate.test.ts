import assert from 'node:assert/strict'
import { scheduler } from 'node:timers/promises'
import { before, describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Answer, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

/** 0 of 100 is at most 2.96 %, 2 of 100 at most 6.17 %. */
const replay = { level: 'require', newly_blocked_bp: 300, min_events: 100 }
const codeOf = (answer: Answer): unknown[] => [answer.status, errorOf(answer)['code']]
const denying = (...terms: string[]): Json => ({ rules: { denylist: terms } })

describe('the publish gate of the gateway configuration', () => {
  const { scene, send } = gatewaySuite({ config: { audit: { content: 'full' } } })
  before(async () => {
    for (let at = 0; at < 100; at += 1) {
      const content = at < 2 ? `What is Falcon? ${at}` : `Hello ${at}`
      const body = { model: 'gatehouse-echo', max_tokens: 8, messages: [{ role: 'user', content }] }
      assert.equal((await scene().post('/v1/messages', body)).status, 200)
    }
  })
  const sendAs = (key: string) => (method: string, path: string, body?: object) => send(method, path, { body, key })
  const admin = (method: string, path: string, body?: object) => sendAs(scene().adminKey)(method, path, body)
  async function setGate(settings: Json): Promise<void> {
    const { revision } = await scene().admin.get('/publish_gate')
    const { status } = await scene().admin.send('PUT', '/publish_gate', { body: { revision, ...settings } })
    assert.equal(status, 200)
  }
  async function runGate(config: Json, start = admin): Promise<Json> {
    const { body } = await start('POST', '/config/gate', { config })
    for (;;) {
      const run = (await admin('GET', `/config/gate/${textOf(body)}`)).body
      if (run['state'] !== 'running') return run
      await scheduler.wait(50)
    }
  }

  it('asks nothing without cases and settings, as the contract says', async () => {
    assert.equal((await send('PUT', '/config', { body: denying('vulture') })).status, 200)
    assert.deepEqual(itemsOf((await send('GET', '/config/gate')).body), [])
  })

  it('rejects a configuration that denies 2 % of recorded requests, and saves it with an override that the log shows', async () => {
    await setGate({ replay })
    const config = denying('falcon')
    assert.deepEqual(codeOf(await admin('PUT', '/config', config)), [409, 'gate_not_passed'])
    const run = await runGate(config)
    assert.equal(run['state'], 'failed')
    const rejected = await admin('PUT', '/config', { config, gate_run: run['id'] })
    assert.deepEqual(codeOf(rejected), [409, 'gate_not_passed'])
    assert.partialDeepStrictEqual(errorOf(rejected)['checks'], [{ kind: 'newly_blocked', found: 2, bound_bp: 617 }])
    const override = { reason: 'A leak is going on' }
    assert.equal((await send('PUT', '/config', { body: { config, override } })).status, 403)
    assert.equal((await admin('PUT', '/config', { config, override })).status, 200)
    const [event] = itemsOf(await scene().admin.get('/audit_logs?kind=gateway.config.updated'))
    assert.partialDeepStrictEqual(event?.['details'], { gate: { run_id: run['id'], override } })
  })

  it('saves one that passes, and only that one', async () => {
    await setGate({ replay })
    const config = denying('condor')
    const run = await runGate(config)
    assert.equal(run['state'], 'passed')
    const other = { config: denying('condor', 'falcon'), gate_run: run['id'] }
    assert.deepEqual(codeOf(await admin('PUT', '/config', other)), [409, 'gate_stale'])
    assert.equal((await admin('PUT', '/config', config)).status, 200)
  })

  it('always lets an earlier configuration and a narrower rollout through', async () => {
    await setGate({ replay })
    assert.equal((await admin('PUT', '/config', denying('vulture'))).status, 200, 'it was saved before')
    const shadow = { ...denying('vulture'), rollout: { shadow: { enabled: true } } }
    assert.equal((await admin('PUT', '/config', shadow)).status, 200)
    const canary = (percent: number) => ({
      ...denying('vulture'),
      rollout: { canary: { enabled: true, sample_percent: percent } },
    })
    assert.deepEqual(codeOf(await admin('PUT', '/config', canary(10))), [409, 'gate_not_passed'], 'wider than a shadow')
    assert.equal((await admin('PUT', '/config', denying('vulture'))).status, 200)
    assert.equal((await admin('PUT', '/config', canary(10))).status, 200)
    assert.deepEqual(codeOf(await admin('PUT', '/config', canary(20))), [409, 'gate_not_passed'])
    assert.equal((await admin('PUT', '/config', canary(5))).status, 200)
  })

  it('holds a simulation that saves its configuration to the same', async () => {
    await setGate({ replay })
    const current = (await admin('GET', '/config')).body
    const simulated = (config: Json) => admin('POST', '/simulate', { config, persist: true, scenario: { text: 'Hi' } })
    assert.deepEqual(codeOf(await simulated(denying('falcon', 'merlin'))), [409, 'gate_not_passed'])
    assert.deepEqual((await admin('GET', '/config')).body, current)
    const config = denying('osprey')
    assert.equal((await runGate(config))['state'], 'passed')
    assert.equal((await simulated(config)).status, 200)
  })

  it('runs the cases when a configuration is saved', async () => {
    await setGate({})
    const given = { says: 'asked outright', given: { text: 'What is Project X?' }, expect: 'refuse' }
    const created = (await send('POST', '/config/cases', { body: given })).body
    try {
      const rejected = await send('PUT', '/config', { body: denying('eagle') })
      assert.deepEqual(codeOf(rejected), [409, 'gate_not_passed'])
      assert.partialDeepStrictEqual(errorOf(rejected)['checks'], [{ kind: 'cases', examples: [created['id']] }])
      const simulated = await send('POST', '/simulate', { body: { config: denying('eagle'), persist: true } })
      assert.deepEqual(codeOf(simulated), [409, 'gate_not_passed'])
      assert.equal((await send('PUT', '/config', { body: denying('project x') })).status, 200)
    } finally {
      await send('DELETE', `/config/cases/${textOf(created)}`)
    }
  })

  it('needs another person than the one who sent it, where approvals are required', async () => {
    await setGate({ approvals: { level: 'require' } })
    const author = await scene().adminWith(['gateway:read', 'gateway:write', 'content:read', 'policies:publish'])
    const own = sendAs(author.key)
    const config = denying('kestrel')
    const run = await runGate(config, own)
    assert.deepEqual(codeOf(await own('POST', `/config/gate/${textOf(run)}/approve`)), [409, 'invalid_state'])
    assert.deepEqual(codeOf(await own('PUT', '/config', config)), [409, 'gate_not_passed'])
    assert.equal((await admin('POST', `/config/gate/${textOf(run)}/approve`)).status, 200)
    assert.equal((await own('PUT', '/config', config)).status, 200)
    await setGate({})
  })
})
