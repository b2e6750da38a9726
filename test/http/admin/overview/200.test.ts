import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'

type Item = { kind: string; severity: string; text: string; object_id: string | null }

describe('the overview', () => {
  const { app, admin, send } = adminSuite()

  const attention = async (caller = admin()): Promise<Item[]> => (await caller.get('/overview'))['attention'] as Item[]
  const policy = async (name: string, rule: string): Promise<string> => {
    const { body } = await send('POST', '/policies', { name, rule, mode: 'enforcing' })
    const id = String(body['id'])
    await send('POST', `/policies/${id}/publish`, { revision: 1 })
    return id
  }

  it('names what needs a person, with the object that it is about', async () => {
    const paused = await policy('Paused', 'cel:false')
    await send('POST', `/policies/${paused}/pause`, { revision: 2 })
    const plain = await policy('Tone', 'Be polite.')
    await policy('Named', 'Never mention "Falcon".')
    const expiry = Math.floor(Date.now() / 1_000) + 3_600
    const { body: key } = await send('POST', '/admin_api_keys', {
      name: 'Soon',
      permissions: ['audit:read'],
      expires_at: expiry,
    })
    await send('POST', '/admin_api_keys', { name: 'Later', permissions: ['audit:read'], expires_at: expiry + 864_000 })
    assert.deepEqual(
      (await attention()).map(({ kind, severity, object_id: id }) => [kind, severity, id]),
      [
        ['rule_not_judged', 'warning', plain],
        ['key_expiring', 'warning', key['id']],
        ['policy_paused', 'info', paused],
      ],
    )
  })

  it('streams its figures each second, as long as the key may read them', async () => {
    const reader = await app().adminWith(['policies:read'])
    const denied = await reader.send('GET', '/overview/stream')
    assert.equal(denied.status, 403)
    const leaving = new AbortController()
    const { url, adminKey } = app()
    const response = await fetch(`${url}/v1/organization/overview/stream`, {
      headers: { authorization: `Bearer ${adminKey}` },
      signal: leaving.signal,
    })
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.match(/^event: tick$/gm)?.length === 2) break
    }
    leaving.abort()
    const [data = ''] = /^data: .*$/m.exec(text) ?? []
    const names = ['denied_share', 'error_share', 'in_flight', 'p95_ms', 'requests_per_second']
    assert.deepEqual(Object.keys(JSON.parse(data.slice('data: '.length)) as object).sort(), names)
  })

  it('shows a key only what its permissions show', async () => {
    const reader = await app().adminWith(['audit:read', 'keys:read'])
    assert.deepEqual(
      (await attention(reader)).map(({ kind }) => kind),
      ['key_expiring'],
    )
  })
})
