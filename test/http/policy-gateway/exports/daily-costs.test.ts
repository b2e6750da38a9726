import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { errorOf, textOf, type Json } from '../../../support/administration.ts'
import { startExportScene, type ExportScene } from '../../../support/export-scene.ts'
import { rowsOfCsv } from '../../../support/csv.ts'
import { createFastClock } from '../../../support/fast-clock.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'
import { startReceiver } from '../../../support/receiver.ts'
import { s3Auth as auth, s3Store, type S3Objects } from '../../../support/s3-store.ts'

const dayMs = 86_400_000
const bucket = { bucket: 'audit', region: 'eu-central-1', auth } as const

describe('a sink of daily costs', () => {
  const { scene, send } = gatewaySuite()
  const create = (config: Json, type = 's3') => send('POST', '/exports', { body: { type, config } })

  it('is a setting of S3 sinks only, and events are the default', async () => {
    const made = await create({ ...bucket, sends: 'costs' })
    assert.equal(made.status, 201)
    const { config, health } = made.body['export'] as { config: Json; health: Json }
    assert.equal(config['sends'], 'costs')
    assert.deepEqual(health['cost_files'], { days: 0, last_day: null, last_day_without_tags: null })
    const events = await create(bucket)
    assert.equal((events.body['export'] as { health: Json }).health['cost_files'], null)
    const rejected = await create(
      { url: 'https://hooks.example.com', secret: 'x'.repeat(24), sends: 'costs' },
      'webhook',
    )
    assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'config.sends'])
  })

  it('is rejected with the name of the field if it chooses among events', async () => {
    const cases: [Json, string][] = [
      [{ filter: { decisions: ['refuse'] } }, 'config.filter'],
      [{ content: 'full' }, 'config.content'],
      [{ sends: 'money' }, 'config.sends'],
    ]
    for (const [fields, param] of cases) {
      const answer = await create({ ...bucket, sends: 'costs', ...fields })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(answer.body))
    }
    const filtered = await create({ ...bucket, filter: { decisions: ['refuse'] } })
    const id = textOf(filtered.body['export'] as Json)
    const patch = (config: Json) => send('PATCH', `/exports/${id}`, { body: { config } })
    const rejected = await patch({ sends: 'costs' })
    assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'config.filter'])
    assert.match(String(errorOf(rejected)['message']), /a file of costs has no events/)
    assert.equal((await patch({ sends: 'costs', filter: null })).status, 200)
  })

  it('gets a file for a test, out of the folder of the costs', async (t) => {
    const objects: S3Objects = new Map()
    const receiver = await startReceiver(t, (received) => s3Store({ nowMs: Date.now() }, objects)(received))
    const sink = await scene().createSink(
      { ...bucket, endpoint: receiver.origin, prefix: 'finance', sends: 'costs' },
      's3',
    )
    const { body } = await send('POST', `/exports/${String(sink['id'])}/test`)
    const { success, event_id: eventId } = body['test'] as Json
    assert.equal(success, true)
    const [[key, object] = assert.fail()] = objects
    assert.equal(key, `finance/_test/focus/v1.2/organization=${scene().organizationId}/${String(eventId)}.csv.gz`)
    const [row] = rowsOfCsv(object.text)
    assert.deepEqual([row?.['BilledCost'], row?.['ServiceName'], row?.['x_Requests']], ['0', 'test', '0'])
    assert.equal(objects.size, 1)
  })
})

describe('the file of a day', () => {
  it('has what the report of the day says, with the names of projects and keys', async (t) => {
    const clock = createFastClock(50)
    await using app = await startExportScene({
      clock,
      config: {
        exports: { allow_addresses: ['127.0.0.0/8'] },
        budgets: { tags: ['team'] },
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [
          {
            name: 'cheap',
            targets: [{ upstream: 'echo', model: 'gatehouse-echo' }],
            price: { input: 7.123, output: 1_000.001 },
          },
        ],
      },
    })
    const objects: S3Objects = new Map()
    const receiver = await startReceiver(t, (received) => s3Store({ nowMs: clock.nowMs() }, objects)(received))
    // The day must not end between two requests.
    if (dayMs - (clock.nowMs() % dayMs) < 3_600_000) clock.skip(2 * 3_600_000)
    const day = Math.floor(clock.nowMs() / dayMs) * 86_400
    for (const team of ['red', 'red', 'blue']) await ask(app, team)
    const sink = await app.createSink({ ...bucket, endpoint: receiver.origin, sends: 'costs' }, 's3')
    clock.skip(2 * dayMs)
    const date = new Date(day * 1000).toISOString().slice(0, 10)
    const key = `focus/v1.2/organization=${app.organizationId}/day=${date}.csv.gz`
    while (!objects.has(key)) await setTimeout(20)
    const rows = rowsOfCsv(objects.get(key)?.text ?? assert.fail())
    assert.deepEqual(
      rows.map((row) => [row['Tags'], row['x_Requests'], row['SubAccountId'], row['ServiceName']]),
      [
        ['{"team":"blue"}', '1', app.projectId, 'cheap'],
        ['{"team":"red"}', '2', app.projectId, 'cheap'],
      ],
    )
    for (const row of rows) assert.ok(row['SubAccountName'] && row['ResourceName'] && row['BillingAccountName'])
    const answer = await app.get(`/v1/organization/costs?from=${day}&to=${day + 86_400}`, {
      authorization: `Bearer ${app.adminKey}`,
    })
    const { total } = (await answer.json()) as { total: { cost_usd: number } }
    const inFile = rows.reduce((sum, row) => sum + Number(row['BilledCost']), 0)
    assert.equal(inFile.toFixed(6), total.cost_usd.toFixed(6))
    while ((await app.sink(String(sink['id'])))['last_success_at'] === null) await setTimeout(20)
    const { health } = (await app.sink(String(sink['id']))) as { health: Json }
    assert.deepEqual(health['cost_files'], { days: 1, last_day: date, last_day_without_tags: null })
  })
})

async function ask(app: ExportScene, team: string): Promise<void> {
  const body = { model: 'cheap', max_tokens: 20, messages: [{ role: 'user', content: 'One two three' }] }
  const answer = await app.post('/v1/messages', body, {
    authorization: `Bearer ${app.apiKey}`,
    'x-policy-tags': `team=${team}`,
  })
  assert.equal(answer.status, 200, await answer.text())
}
