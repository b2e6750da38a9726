import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsoleScene } from '../../../support/console-scene.ts'

async function openScene() {
  const scene = await openConsoleScene({ config: { audit: { content: 'full' } } })
  const admin = { authorization: `Bearer ${scene.adminKey}` }
  return {
    ...scene,
    admin,
    read: (path: string, headers = admin) => scene.get(`/v1/organization${path}`, headers),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

const linesOf = async (response: Response): Promise<Record<string, unknown>[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('an export of requests', () => {
  it('has the objects of the list, one a line, without their texts', async () => {
    await using scene = await openScene()
    for (const text of ['Hello', 'the falcon flies', 'Hello again']) await scene.ask(text)
    const response = await scene.read('/requests/export')
    assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename="requests.ndjson"')
    const lines = await linesOf(response)
    const { data } = (await (await scene.read('/requests')).json()) as { data: unknown[] }
    assert.deepEqual(lines, data)
    assert.doesNotMatch(JSON.stringify(lines), /falcon flies/)
  })

  it('reads more than a page, up to its limit, and continues after an event', async () => {
    await using scene = await openScene()
    await Promise.all(Array.from({ length: 205 }, () => scene.ask('Hello')))
    const all = await linesOf(await scene.read('/requests/export?order=asc'))
    assert.equal(all.length, 205)
    assert.equal(new Set(all.map(({ id }) => id)).size, 205)
    const most = await linesOf(await scene.read('/requests/export?order=asc&limit=203'))
    assert.deepEqual(most, all.slice(0, 203))
    const last = String(most.at(-1)?.['event_id'])
    assert.deepEqual(await linesOf(await scene.read(`/requests/export?order=asc&after=${last}`)), all.slice(203))
  })

  it('has the filters of the list', async () => {
    await using scene = await openScene()
    await scene.ask('Hello')
    const denied = await scene.ask('falcon')
    const lines = await linesOf(await scene.read('/requests/export?status=denied'))
    assert.deepEqual(
      lines.map(({ id }) => id),
      [denied],
    )
    assert.equal((await scene.read('/requests/export?status=gone')).status, 422)
    assert.equal((await scene.read('/requests/export?after=evt_nobody')).status, 400)
  })

  it('is a CSV file that no spreadsheet runs', async () => {
    await using scene = await openScene()
    await scene.ask('Hello', '=HYPERLINK("http://evil.example","x")')
    const response = await scene.read('/requests/export?format=csv')
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
    const [header, row] = (await response.text()).split('\r\n')
    assert.match(header ?? '', /^id,event_id,sequence,created_at,status,/)
    assert.match(row ?? '', /"'=HYPERLINK\(""http:\/\/evil\.example"",""x""\)"/)
    assert.match(row ?? '', /,\d{4}-\d\d-\d\dT[\d:.]+Z,error,/)
  })

  it('has nothing of another organization', async () => {
    await using scene = await openScene()
    await scene.ask('Hello')
    const { id } = await scene.app.client.post<{ id: string }>('/operator/organizations', { name: 'Other' })
    const made = await scene.app.client
      .inOrganization(id)
      .post<{ value: string }>('/v1/organization/admin_api_keys', { name: 'A', permissions: ['audit:read'] })
    const headers = { authorization: `Bearer ${made.value}` }
    assert.equal(await (await scene.read('/requests/export', headers)).text(), '')
    const kinds = (await linesOf(await scene.read('/audit_logs/export', headers))).map(({ kind }) => kind)
    assert.deepEqual(new Set(kinds), new Set(['organization.created', 'admin_api_key.created']))
  })
})

describe('an export of the audit log', () => {
  it('has the events of the list, and their changes as JSON in a cell of CSV', async () => {
    await using scene = await openScene()
    const query = 'kind=policy.created'
    const { data } = (await (await scene.read(`/audit_logs?${query}`)).json()) as { data: unknown[] }
    assert.deepEqual(await linesOf(await scene.read(`/audit_logs/export?${query}`)), data)
    const [header, row] = (await (await scene.read(`/audit_logs/export?${query}&format=csv`)).text()).split('\r\n')
    assert.match(header ?? '', /^id,sequence,created_at,kind,message,actor_type,actor_id,/)
    assert.match(row ?? '', /policy\.created,.*admin_key,adk_\w+.*"\{""/)
  })
})
