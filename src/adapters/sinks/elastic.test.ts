import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { auditDocuments, testTimeMs } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Received, type Reply } from '../../../test/support/receiver.ts'
import { sinkParts, tally } from '../../../test/support/sink-parts.ts'
import { isRecord } from '../../base/record.ts'
import { elastic } from './elastic.ts'

const signal = new AbortController().signal
const key = Buffer.from('id:key').toString('base64')
const auth = { type: 'api_key', api_key: 'id:key' }

type Item = { readonly status: number; readonly error?: { readonly type: string; readonly reason: string } }
type Rules = {
  readonly itemFor?: (id: string) => Item | undefined
  readonly maxBytes?: number
  readonly failure?: () => Reply | undefined
}
type Stored = Map<string, Record<string, unknown>>

/** The bulk call: action line, document line, last newline; `create` rejects an existing id. */
function bulk(rules: Rules, stored: Stored) {
  const create = (id: string, source: string): Item => {
    const special = rules.itemFor?.(id)
    if (special) return special
    if (stored.has(id)) {
      return { status: 409, error: { type: 'version_conflict_engine_exception', reason: `[${id}]: version conflict` } }
    }
    const document: Record<string, unknown> = JSON.parse(source)
    if (typeof document['@timestamp'] !== 'string') {
      return {
        status: 400,
        error: { type: 'document_parsing_exception', reason: 'data stream timestamp field [@timestamp] is missing' },
      }
    }
    stored.set(id, document)
    return { status: 201 }
  }
  return (received: Received): Reply => {
    const failure = rules.failure?.()
    if (failure) return failure
    const { authorization } = received.headers
    if (authorization !== `ApiKey ${key}` && authorization !== `Basic ${Buffer.from('ada:pw').toString('base64')}`) {
      return { status: 401, body: { error: { type: 'security_exception' }, status: 401 } }
    }
    if (!/\/_bulk\?/.test(received.target)) return { status: 405 }
    if (received.headers['content-type'] !== 'application/x-ndjson') return { status: 406 }
    if (received.text.length > (rules.maxBytes ?? 100_000_000)) return { status: 413 }
    if (!received.text.endsWith('\n')) {
      return {
        status: 400,
        body: { error: { type: 'illegal_argument_exception', reason: 'must be terminated by a newline' } },
      }
    }
    const lines = received.text.slice(0, -1).split('\n')
    const items = []
    for (let at = 0; at < lines.length; at += 2) {
      const action = JSON.parse(lines[at] ?? '')
      if (Object.keys(action).join() !== 'create') return { status: 400 }
      items.push({ create: create(action.create._id, lines[at + 1] ?? '') })
    }
    return { status: 200, body: { errors: items.some(({ create: { status } }) => status > 299), items } }
  }
}

async function open(t: TestContext, rules: Rules = {}, config: object = { auth }) {
  const stored: Stored = new Map()
  const receiver = await startReceiver(t, bulk(rules, stored))
  const sink = elastic.open({ url: `${receiver.origin}/es/`, ...config }, sinkParts(t))
  return { sink, stored, receiver }
}

describe('elastic', () => {
  it('creates documents in the data stream, in ECS, with the event’s id', async (t) => {
    const { sink, stored, receiver } = await open(t)
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 2 }), signal)), { delivered: 2 })
    assert.deepEqual([...stored.keys()], ['evt_000000', 'evt_000001'])
    const url = new URL(receiver.requests[0]?.target ?? '', 'http://x')
    assert.equal(url.pathname, '/es/logs-gatehouse.audit-default/_bulk')
    assert.equal(url.searchParams.get('filter_path'), 'errors,items.*.status,items.*.error.type,items.*.error.reason')
    const { event, organization, rule, user, source, gatehouse, ...document } = stored.get('evt_000001') ?? {}
    assert.equal(document['@timestamp'], new Date(testTimeMs + 1).toISOString())
    assert.ok(isRecord(event) && isRecord(gatehouse))
    assert.deepEqual(
      [event.id, event.sequence, event.category, event.type, event.action, event.outcome, event.reason],
      ['evt_000001', 2, ['api'], ['denied'], 'gateway.request.decided', 'success', 'REFUSE_LEGAL'],
    )
    assert.deepEqual([organization, user, source], [{ id: 'org_1' }, { id: 'ada' }, { ip: '192.0.2.7' }])
    assert.deepEqual(rule, { id: 'pol_1', name: 'No legal advice', ruleset: 'pol_1', version: '3' })
    assert.equal(gatehouse.decision, 'refuse')
  })

  it('writes to an index through a pipeline, with a password', async (t) => {
    const config = {
      auth: { type: 'basic', username: 'ada', password: 'pw' },
      mode: 'index',
      index: 'audit-1',
      pipeline: 'p',
    }
    const { sink, receiver } = await open(t, {}, config)
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1 }), signal)), { delivered: 1 })
    assert.match(receiver.requests[0]?.target ?? '', /^\/es\/audit-1\/_bulk\?.*pipeline=p$/)
  })

  it('counts an existing document as delivered, so that a repeated batch changes nothing', async (t) => {
    const { sink, stored } = await open(t)
    const batch = auditDocuments({ count: 5 })
    await sink.deliver(batch.slice(0, 3), signal)
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 5 })
    assert.equal(stored.size, 5)
  })

  it('maps each item on its own', async (t) => {
    const failing: Record<string, Item> = {
      evt_000001: {
        status: 400,
        error: {
          type: 'document_parsing_exception',
          reason: "[1:9] failed to parse field [gatehouse.cost_usd] of type [long]. Preview of field's value: 'SECRET'",
        },
      },
      evt_000003: { status: 429, error: { type: 'es_rejected_execution_exception', reason: 'queue full' } },
      evt_000005: { status: 503, error: { type: 'unavailable_shards_exception', reason: '' } },
    }
    const { sink } = await open(t, { itemFor: (id) => failing[id] })
    const outcomes = await sink.deliver(auditDocuments({ count: 7 }), signal)
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'reject', 'delivered', 'retry', 'delivered', 'retry', 'delivered'],
    )
    assert.deepEqual(outcomes[1], {
      kind: 'reject',
      reason: 'Elasticsearch answered 400 for the event: document_parsing_exception, field gatehouse.cost_usd.',
    })
    assert.ok(!JSON.stringify(outcomes).includes('SECRET'))
  })

  it('retries an index that is locked by a full disk, and pauses for one without write permission', async (t) => {
    const cases: [Item, string][] = [
      [{ status: 403, error: { type: 'cluster_block_exception', reason: 'index blocked' } }, 'retry'],
      [{ status: 403, error: { type: 'security_exception', reason: 'unauthorized' } }, 'auth_error'],
      [{ status: 404, error: { type: 'index_not_found_exception', reason: 'no such index' } }, 'config_error'],
    ]
    for (const [item, expected] of cases) {
      const { sink } = await open(t, { itemFor: () => item })
      const [outcome] = await sink.deliver(auditDocuments({ count: 2 }), signal)
      assert.equal(outcome?.kind === 'pause' ? outcome.state : outcome?.kind, expected)
    }
  })

  it('splits a request that is too large', async (t) => {
    const { sink, stored } = await open(t, { maxBytes: 30_000 })
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 40 }), signal)), { delivered: 40 })
    assert.equal(stored.size, 40)
  })

  it('does not treat an invalid bulk response as success', async (t) => {
    for (const body of ['<html>', '{}', '{"errors":true,"items":[]}', '[]']) {
      const { sink } = await open(t, { failure: () => ({ status: 200, body }) })
      assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 2 }), signal)), { retry: 2 })
    }
  })

  it('pauses on a rejected credential', async (t) => {
    const { sink } = await open(t, {}, { auth: { type: 'api_key', api_key: 'other' } })
    const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.equal(outcome?.kind === 'pause' && outcome.state, 'auth_error')
  })

  it('resolves an Elastic Cloud id', async (t) => {
    const stored: Stored = new Map()
    const receiver = await startReceiver(t, bulk({}, stored))
    const cloudId = `gateway:${Buffer.from('eu.cloud.test:9243$c1u2$k1').toString('base64')}`
    const parts = sinkParts(t, { routes: { 'c1u2.eu.cloud.test:9243': receiver.origin } })
    await elastic.open({ cloud_id: cloudId, auth }, parts).deliver(auditDocuments({ count: 1 }), signal)
    assert.equal(stored.size, 1)
  })
})
