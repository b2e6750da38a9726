import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsoleScene } from '../../../support/console-scene.ts'

type Row = { readonly id: string; readonly status: string; readonly decision: string } & Record<string, unknown>

async function openScene(config: Readonly<Record<string, unknown>> = {}) {
  const scene = await openConsoleScene({ config })
  const headers = { authorization: `Bearer ${scene.adminKey}` }
  const read = async (path: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await scene.get(`/v1/organization${path}`, headers)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const list = async (query: string): Promise<Row[]> => (await read(`/requests?${query}`)).body['data'] as Row[]
  return { ...scene, read, list, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() }
}

describe('the list of requests', () => {
  it('has one row for each request, with its decision, usage and latency', async () => {
    await using scene = await openScene()
    const allowed = await scene.ask('Hello')
    const denied = await scene.ask('the falcon flies')
    const failed = await scene.ask('Hello', 'no-such-model')
    const rows = await scene.list('limit=10')
    assert.deepEqual(
      rows.map(({ id, status, decision, error, policy_name: policy, upstream }) => [
        id,
        status,
        decision,
        error,
        policy,
        upstream,
      ]),
      [
        [failed, 'error', 'not_evaluated', 'model_not_found', null, null],
        [denied, 'denied', 'refuse', 'policy_blocked', 'No code names', null],
        [allowed, 'ok', 'allow', null, null, 'echo'],
      ],
    )
    for (const row of rows) {
      assert.equal(row['dialect'], 'messages')
      assert.equal(row['project_id'], scene.projectId)
      assert.ok(Number.isInteger(row['latency_ms']))
    }
    assert.ok(Number(rows[2]?.['input_tokens']) > 0 && Number(rows[2]?.['output_tokens']) > 0)
  })

  it('can be filtered by every field, and read page by page', async () => {
    await using scene = await openScene()
    const ids = [await scene.ask('Hello'), await scene.ask('falcon'), await scene.ask('Hello', 'other')]
    const [allowed, denied, failed] = ids
    const [row] = await scene.list('status=denied')
    const filters: [string, (string | undefined)[]][] = [
      ['status=ok', [allowed]],
      ['status=error', [failed]],
      ['decision=refuse', [denied]],
      ['model=other', [failed]],
      ['model=gatehouse-echo', [denied, allowed]],
      [`policy_id=${scene.policyId}`, [denied]],
      [`project_id=${scene.projectId}`, [failed, denied, allowed]],
      [`api_key_id=${String(row?.['api_key_id'])}`, [failed, denied, allowed]],
      [`reason_code=${String(row?.['reason_code'])}`, [denied]],
      ['category=hate', []],
      ['category=%25', []],
      ['user_id=nobody', []],
      ['min_ms=600000', []],
      ['min_ms=0&min_cost_usd=0&status=ok', [allowed]],
      ['to=1', []],
      ['from=1&model=other', [failed]],
    ]
    for (const [query, expected] of filters)
      assert.deepEqual(
        (await scene.list(query)).map(({ id }) => id),
        expected,
        query,
      )
    const { body } = await scene.read('/requests?limit=2')
    assert.equal(body['has_more'], true)
    assert.deepEqual(
      (await scene.list(`limit=2&after=${String(body['last_id'])}`)).map(({ id }) => id),
      [allowed],
    )
  })

  it('can leave out values of every field, and have several of them', async () => {
    await using scene = await openScene()
    const ids = [await scene.ask('Hello'), await scene.ask('falcon'), await scene.ask('Hello', 'other')]
    const [allowed, denied, failed] = ids
    const [row] = await scene.list('status=denied')
    const filters: [string, (string | undefined)[]][] = [
      ['not_status=ok', [failed, denied]],
      ['not_status=ok&not_status=error', [denied]],
      ['status=ok&status=error', [failed, allowed]],
      ['not_decision=refuse', [failed, allowed]],
      ['not_model=other', [denied, allowed]],
      ['model=oth*', [failed]],
      [`not_policy_id=${scene.policyId}`, [failed, allowed]],
      [`not_project_id=${scene.projectId}`, []],
      [`not_api_key_id=${String(row?.['api_key_id'])}`, []],
      ['not_user_id=ada', [failed, denied, allowed]],
      [`not_reason_code=${String(row?.['reason_code'])}`, [failed, allowed]],
      ['error=model_not_found', [failed]],
      ['not_error=model_not_found', [denied, allowed]],
      ['not_category=hate', [failed, denied, allowed]],
      ['not_model=other&status=ok', [allowed]],
    ]
    for (const [query, expected] of filters)
      assert.deepEqual(
        (await scene.list(query)).map(({ id }) => id),
        expected,
        query,
      )
  })

  it('can be searched by names, codes and ids', async () => {
    await using scene = await openScene()
    const ids = [await scene.ask('Hello'), await scene.ask('falcon'), await scene.ask('Hello', 'other-model')]
    const [allowed = '', denied, failed] = ids
    const { body } = await scene.read(`/projects/${scene.projectId}`)
    const searches: [string, (string | undefined)[]][] = [
      ['CODE names', [denied]],
      [String(body['name']).toUpperCase(), [failed, denied, allowed]],
      ['OTHER-', [failed]],
      ['model_not', [failed]],
      [allowed.toUpperCase(), [allowed]],
      ['falcon', []],
      ['%', []],
    ]
    for (const [text, expected] of searches)
      assert.deepEqual(
        (await scene.list(`q=${encodeURIComponent(text)}`)).map(({ id }) => id),
        expected,
        text,
      )
  })

  it('says how many requests match, if that is asked for', async () => {
    await using scene = await openScene()
    for (const text of ['Hello', 'falcon', 'Hello']) await scene.ask(text)
    const { body } = await scene.read('/requests?limit=1&include=total&status=ok')
    assert.deepEqual([body['total'], body['is_total_exact'], body['has_more']], [2, true, true])
    assert.equal('total' in (await scene.read('/requests?limit=1')).body, false)
  })

  it('has no requests of another organization', async () => {
    await using scene = await openScene()
    const id = await scene.ask('Hello')
    const { id: other } = await scene.app.client.post<{ id: string }>('/operator/organizations', { name: 'Other' })
    const client = scene.app.client.inOrganization(other)
    const { data } = await client.list('/v1/organization/requests')
    assert.deepEqual(data, [])
    await assert.rejects(client.get(`/v1/organization/requests/${id}`), /There is no request/)
  })
})

describe('a request', () => {
  it('has its timeline, outcomes, receipt and proof', async () => {
    await using scene = await openScene()
    const id = await scene.ask('Hello')
    await scene.ask('Hello again')
    const { body } = await scene.read(`/requests/${id}`)
    const timeline = body['timeline'] as { step: string; at_ms: number; ms: number; outcome: string | null }[]
    assert.deepEqual(
      timeline.map(({ step }) => step),
      ['accepted', 'admitted', 'request_checks', 'attempt', 'first_byte', 'answer'],
    )
    let end = 0
    for (const { step, at_ms: at, ms } of timeline.filter(({ step: name }) => name !== 'first_byte')) {
      assert.ok(Math.abs(at - end) < 0.11 && ms >= 0, `${step} begins at ${at}, after ${end}`)
      end = at + ms
    }
    assert.deepEqual(
      (body['outcomes'] as Row[]).map(({ name, decision }) => [name, decision]),
      [
        [null, 'allow'],
        ['No code names', 'allow'],
      ],
    )
    const receipt = body['receipt'] as Record<string, number>
    assert.ok((receipt['input_tokens'] ?? 0) > 0)
    const proof = body['proof'] as { sequence: number; previous: { sequence: number }; next: { sequence: number } }
    assert.deepEqual([proof.previous.sequence, proof.next.sequence], [proof.sequence - 1, proof.sequence + 1])
  })

  it('says how long its answer was held back for the checks', async () => {
    await using scene = await openScene()
    const { body } = await scene.read(`/requests/${await scene.ask('Hello')}`)
    const [answer] = (body['timeline'] as { ms: number; detail: Record<string, unknown> }[]).slice(-1)
    const { coverage, held_back_ms: heldBackMs } = answer?.detail ?? {}
    assert.equal(coverage, 'held_back')
    assert.ok(Number(heldBackMs) >= 0 && Number(heldBackMs) <= Number(answer?.ms) + 0.1, `${String(heldBackMs)} ms`)
  })

  it('says where a denied request ended, and by which score', async () => {
    await using scene = await openScene()
    const { body } = await scene.read(`/requests/${await scene.ask('the falcon flies')}`)
    const [last] = (body['timeline'] as { step: string; outcome: string }[]).slice(-1)
    assert.deepEqual([last?.step, last?.outcome], ['request_checks', 'denied'])
    assert.deepEqual(
      (body['outcomes'] as Record<string, unknown>[]).map((each) => [
        each['name'],
        each['score_bp'],
        each['threshold_bp'],
      ]),
      [
        [null, null, null],
        ['No code names', 10_000, 5_000],
      ],
    )
    assert.equal(body['receipt'], null)
  })

  it('is not found by an unknown id', async () => {
    await using scene = await openScene()
    assert.equal((await scene.read('/requests/req_unknown')).status, 404)
  })
})

describe('the stream of requests', () => {
  it('reports new requests that match, and continues after an interruption without a gap', async () => {
    await using scene = await openScene()
    const headers = { authorization: `Bearer ${scene.adminKey}` }
    const open = (id?: string) =>
      scene.get('/v1/organization/requests/stream?status=denied', {
        ...headers,
        ...(id !== undefined && { 'last-event-id': id }),
      })
    const first = await readEvents(await open(), async () => {
      await scene.ask('Hello')
      await scene.ask('the falcon flies')
    })
    assert.equal(first.count, 1)
    await scene.ask('another falcon')
    await scene.ask('a third falcon')
    const second = await readEvents(await open(String(first.sequence)), async () => {})
    assert.deepEqual([second.count, second.data.map(({ status }) => status)], [2, ['denied', 'denied']])
  })

  it('ends when its key is revoked', async () => {
    await using scene = await openScene()
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const made = await scene.post('/v1/organization/admin_api_keys', { name: 'B', permissions: ['audit:read'] }, admin)
    const { id, value } = (await made.json()) as { id: string; value: string }
    const stream = await scene.get('/v1/organization/requests/stream', { authorization: `Bearer ${value}` })
    await fetch(`${scene.url}/v1/organization/admin_api_keys/${id}`, { method: 'DELETE', headers: admin })
    assert.doesNotMatch(await stream.text(), /^event:/m)
  })

  it('frees its slot when the caller leaves', async () => {
    const credential = { requests_per_minute: 10_000, concurrent_requests: 2 }
    await using scene = await openScene({ administration: { credential } })
    const headers = { authorization: `Bearer ${scene.adminKey}` }
    const openAndLeave = async (): Promise<number> => {
      const leaving = new AbortController()
      const { status } = await fetch(`${scene.url}/v1/organization/requests/stream`, {
        headers,
        signal: leaving.signal,
      })
      leaving.abort()
      return status
    }
    for (let at = 0; at < 6; at++) {
      // The server notices a moment later that the caller before has left.
      let status = await openAndLeave()
      for (let tries = 0; status === 429 && tries < 500; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        status = await openAndLeave()
      }
      assert.equal(status, 200)
    }
  })
})

type NewRequests = { readonly count: number; readonly sequence: number; readonly data: readonly Row[] }

/** Calls `then` after the first frame, and returns the data of the first event with data. */
async function readEvents(response: Response, then: () => Promise<void>): Promise<NewRequests> {
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  let text = ''
  for await (const chunk of response.body ?? []) {
    if (text === '') await then()
    text += Buffer.from(chunk).toString()
    const data = /^data: (.*)$/m.exec(text)?.[1]
    if (data !== undefined) return JSON.parse(data) as NewRequests
  }
  throw new Error('the stream ended without data')
}
