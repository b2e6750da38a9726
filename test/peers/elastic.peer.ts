import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { elastic } from '../../src/adapters/sinks/elastic.ts'
import { auditDocuments } from '../support/audit-documents.ts'
import { sinkParts, tally } from '../support/sink-parts.ts'

const url = process.env['PEER_OPENSEARCH_URL']
const auth = { type: 'basic', username: 'any', password: 'any' }
const signal = AbortSignal.timeout(120_000)

describe('elastic against OpenSearch', { skip: url === undefined ? 'no OpenSearch' : false }, () => {
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return (await answer.json()) as { count?: number; [key: string]: unknown }
  }
  const countIn = async (index: string) => (
    await send('POST', `/${index}/_refresh`),
    (await send('GET', `/${index}/_count`)).count
  )
  const open = (t: TestContext, config: object) => elastic.open({ url, auth, ...config }, sinkParts(t))
  const newIndex = (): string => `audit-${randomUUID()}`

  it('stores every event of a batch once, however often it is sent', async (t) => {
    const index = newIndex()
    const sink = open(t, { mode: 'index', index })
    const batch = auditDocuments({ count: 500 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 500 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 500 })
    assert.equal(await countIn(index), 500)
  })

  it('rejects only the event that does not fit the mapping', async (t) => {
    const index = newIndex()
    await send('PUT', `/${index}`, { mappings: { properties: { message: { type: 'integer' } } } })
    const [poison] = auditDocuments({ count: 1, facts: { message: 'no number' } })
    const sound = auditDocuments({ count: 9, facts: { message: '7' } }).map((document) => ({
      ...document,
      metadata: { ...document.metadata, uid: `sound-${document.metadata.uid}` },
    }))
    assert.ok(poison)
    const outcomes = await open(t, { mode: 'index', index }).deliver(
      [...sound.slice(0, 4), poison, ...sound.slice(4)],
      signal,
    )
    assert.deepEqual(tally(outcomes), { delivered: 9, reject: 1 })
    assert.equal(outcomes[4]?.kind, 'reject')
    assert.equal(await countIn(index), 9)
  })

  it('writes to a data stream, and again after it has rolled over', async (t) => {
    const dataset = `gatehouse.${randomUUID().replaceAll('-', '')}`
    await send('PUT', `/_index_template/${dataset}`, {
      index_patterns: [`logs-${dataset}-*`],
      data_stream: {},
      priority: 500,
    })
    const sink = open(t, { data_stream: { dataset } })
    const batch = auditDocuments({ count: 20 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 20 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 20 })
    assert.equal(await countIn(`logs-${dataset}-default`), 20)
    await send('POST', `/logs-${dataset}-default/_rollover`)
    assert.deepEqual(tally(await sink.deliver(batch.slice(0, 1), signal)), { delivered: 1 })
    assert.equal(await countIn(`logs-${dataset}-default`), 21, 'an id is one index’s own: as the page of sinks says')
  })
})
