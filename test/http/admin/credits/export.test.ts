import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsoleScene } from '../../../support/console-scene.ts'

describe('an export of the ledger', () => {
  it('has every entry of the list, also beyond one page, with the filters of the list', async () => {
    await using scene = await openConsoleScene()
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const read = (path: string) => scene.get(`/v1/organization/credits/ledger${path}`, admin)
    for (let at = 0; at < 25; at += 1)
      await scene.post('/v1/organization/credits/grants', { credits: 1, ref: `grant-${at}`, reason: '=1+1' }, admin)
    const lines = (await (await read('/export?kind=grant')).text()).trimEnd().split('\n')
    const { data } = (await (await read('?kind=grant&limit=100')).json()) as { data: unknown[] }
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      data,
    )
    assert.ok(lines.length >= 25)
  })

  it('is CSV for spreadsheets, with the receipt of each request and without formulas', async () => {
    const price = { input: 1_000, output: 1_000 }
    await using scene = await openConsoleScene({
      config: {
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [{ name: 'gatehouse-echo', targets: [{ upstream: 'echo' }], price }],
      },
    })
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const requestId = await scene.ask('Hello')
    await scene.post('/v1/organization/credits/grants', { credits: 1, ref: 'r', reason: '=1+1' }, admin)
    const response = await scene.get('/v1/organization/credits/ledger/export?format=csv', admin)
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename="ledger.csv"')
    const text = await response.text()
    assert.match(text, /^id,created_at,kind,credits,ref,note,request_id,project_id,api_key_id,model,/)
    assert.match(text, new RegExp(`,usage,.*,${requestId},${scene.projectId},`))
    assert.match(text, /,grant,1,r,'=1\+1,/)
  })

  it('needs the permission usage:read', async () => {
    await using scene = await openConsoleScene()
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const body = { name: 'Reader', permissions: ['audit:read'] }
    const made = await scene.post('/v1/organization/admin_api_keys', body, admin)
    const { value } = (await made.json()) as { value: string }
    const response = await scene.get('/v1/organization/credits/ledger/export', { authorization: `Bearer ${value}` })
    assert.equal(response.status, 403)
  })
})
