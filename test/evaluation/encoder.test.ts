import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { createFakeEncoder, opens, opensNothing, type FakeEncoder } from '../support/fake-encoder.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'

const crisis = 'I want to kill myself tonight, and they do not know about it.'
const harmless = 'Good morning, how are you?'

const start = (openEncoder: TestAppOptions['openEncoder'], encoder = 'auto') =>
  startTestApp({ config: { moderation: { encoder } }, ...(openEncoder && { openEncoder }) })

async function flaggedOf(app: TestApp, input: string): Promise<boolean> {
  const answer = await (await app.post('/v1/moderations', { input })).text()
  assert.match(answer, /"model":"gatehouse-moderation-1"/)
  return answer.includes('"flagged":true')
}

async function chat(app: TestApp, content: string): Promise<number> {
  const response = await app.post('/v1/chat/completions', {
    model: 'gatehouse-echo',
    messages: [{ role: 'user', content }],
  })
  await response.text()
  return response.status
}

/** The classifiers that the audit events of requests name. */
async function classifiersOf({ get, adminKey }: TestApp): Promise<readonly string[]> {
  const path = '/v1/organization/audit_logs/export?limit=10'
  const events = await (await get(path, { authorization: `Bearer ${adminKey}` })).text()
  return Array.from(events.matchAll(/"classifier":(\{[^}]*\})/g), ([, classifier = '']) => classifier)
}

describe('the encoder behind the embedded classifier', () => {
  it('decides about texts near a threshold, in the moderation endpoint and in requests', async () => {
    const encoder: FakeEncoder = createFakeEncoder((text) => ({ 'self-harm': text.includes('tonight') ? -4 : 4 }))
    await using app = await start(opens(encoder))
    assert.equal(await flaggedOf(app, crisis), false)
    assert.equal(await flaggedOf(app, crisis.replace('tonight', 'today')), true)
    assert.equal(await flaggedOf(app, harmless), false)
    assert.equal(encoder.texts.length, 2)
    assert.equal(await chat(app, crisis), 200)
    assert.equal(await chat(app, crisis.replace('tonight', 'today')), 400)
    const metrics = await (await app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_encoder_texts_total\{result="judged"\} [1-9]/)
    assert.match(metrics, /gatehouse_encoder_ready 1/)
  })

  it('is asked about a category only if the request, the gateway configuration or a policy reads it', async () => {
    const encoder: FakeEncoder = createFakeEncoder(() => ({ harassment: 4 }))
    await using app = await start(opens(encoder))
    const headers = { authorization: `Bearer ${app.adminKey}` }
    let number = 0
    const ask = async (fields = {}): Promise<[status: number, texts: number]> => {
      const before = encoder.texts.length
      const content = `Shut up, you disgusting worthless idiot number ${++number}.`
      const body = { model: 'gatehouse-echo', messages: [{ role: 'user', content }], ...fields }
      const { status } = await app.post('/v1/chat/completions', body)
      return [status, encoder.texts.length - before]
    }
    assert.deepEqual(await ask(), [200, 0])
    assert.deepEqual(await ask({ flagged_categories: ['harassment'] }), [400, 1])
    assert.deepEqual(await ask({ flagged_categories: ['sexual'] }), [200, 0])
    const rule = 'cel:categories["harassment"] > 0.9'
    const created = await app.post('/v1/organization/policies', { name: 'P', rule, mode: 'enforcing' }, headers)
    const { id } = (await created.json()) as { id: string }
    await app.post(`/v1/organization/policies/${id}/publish`, { revision: 1 }, headers)
    assert.equal((await ask())[1], 1)
    assert.equal(
      encoder.questions.every(({ isUrgent }) => !isUrgent),
      true,
    )
    assert.equal(new Set(encoder.questions.map(({ organizationId }) => organizationId)).size, 1)
  })

  it('is named in the audit event with the stage that decided', async () => {
    await using app = await start(opens(createFakeEncoder(() => ({ 'self-harm': 4 }))))
    assert.equal(await chat(app, harmless), 200)
    assert.equal(await chat(app, crisis), 400)
    const [denied = '', allowed = ''] = (await classifiersOf(app)).toSorted()
    assert.match(allowed, /^\{"id":"embedded\+encoder","stage":"linear","version":"\S+\+1"\}$/)
    assert.equal(denied, allowed.replace('"linear"', '"encoder"'))
  })

  it('is named by the detail of a request with the stage that decided', async () => {
    await using app = await start(opens(createFakeEncoder(() => ({ 'self-harm': 4 }))))
    const headers = { authorization: `Bearer ${app.adminKey}` }
    const classifierOf = async (content: string): Promise<unknown> => {
      const body = { model: 'gatehouse-echo', messages: [{ role: 'user', content }] }
      const response = await app.post('/v1/chat/completions', body)
      await response.text()
      const path = `/v1/organization/requests/${response.headers.get('x-request-id')}`
      const { classifier } = (await (await app.get(path, headers)).json()) as { classifier: Record<string, string> }
      return [classifier['id'], classifier['stage']]
    }
    assert.deepEqual(await classifierOf(harmless), ['embedded+encoder', 'linear'])
    assert.deepEqual(await classifierOf(crisis), ['embedded+encoder', 'encoder'])
  })

  it('is named by an evaluation that sends nothing', async () => {
    await using app = await start(opens(createFakeEncoder(() => ({ 'self-harm': 4 }))))
    const stageOf = async (text: string): Promise<string | undefined> => {
      const headers = { authorization: `Bearer ${app.adminKey}` }
      const response = await app.post('/v1/organization/evaluate', { scenario: { text } }, headers)
      return /"stage":"(\w+)"/.exec(await response.text())?.[1]
    }
    assert.deepEqual([await stageOf(harmless), await stageOf(crisis)], ['linear', 'encoder'])
  })

  it('leaves the decision to the first stage if it fails, and the reason is logged once', async () => {
    const lines: string[] = []
    await using app = await startTestApp({
      config: { moderation: { encoder: 'auto' } },
      openEncoder: opens(createFakeEncoder(() => Promise.reject(new Error('no memory')))),
      log: createLog({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } }),
    })
    assert.equal(await chat(app, crisis), 400)
    assert.equal(await chat(app, crisis.replace('tonight', 'today')), 400)
    assert.match((await classifiersOf(app)).join(), /"stage":"linear_encoder_failed"/)
    const [line = '', ...others] = lines.filter((each) => each.includes('the encoder failed'))
    assert.match(line, /"error":"no memory"/)
    assert.deepEqual(others, [])
  })

  it('is not used if it is off or not installed', async () => {
    for (const setting of ['auto', 'off']) {
      await using app = await start(opensNothing, setting)
      assert.equal(await flaggedOf(app, crisis), true)
      assert.equal(await chat(app, crisis), 400)
      assert.match((await classifiersOf(app)).join(), /"id":"embedded","stage":"linear"/)
    }
  })

  it('is not named in the audit event if its package is damaged', async () => {
    const problem = { code: 'wrong_digest', message: 'The model is damaged.' } as const
    await using app = await start(
      opens(
        createFakeEncoder(() => assert.fail('the encoder is not asked')),
        { state: 'off', problem },
      ),
    )
    assert.equal(await chat(app, crisis), 400)
    assert.match((await classifiersOf(app)).join(), /^\{"id":"embedded","stage":"linear","version":"[^"+]+"\}$/)
  })

  it('keeps the gateway from starting if it is required and cannot be used', async () => {
    await assert.rejects(start(opensNothing, 'required'), /moderation\.encoder: required, but The package .* is not/)
    const damaged = opens(
      createFakeEncoder(() => ({})),
      {
        state: 'off',
        problem: { code: 'wrong_digest', message: 'the model is damaged.' },
      },
    )
    await assert.rejects(start(damaged, 'required'), /moderation\.encoder: required, but the model is damaged/)
    const dying = opens(
      createFakeEncoder(() => ({})),
      { state: 'restarting' },
    )
    await assert.rejects(
      start(dying, 'required'),
      /moderation\.encoder: required, but The thread of the encoder is rest/,
    )
  })
})
