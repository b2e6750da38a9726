import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startAdminApp, textOf, type AdminApp } from '../support/administration.ts'
import { openCommandLine } from '../support/command-line.ts'

async function publish({ admin }: AdminApp, rule: string): Promise<string> {
  const draft = await admin.post('/policies', { name: 'No code names', rule, mode: 'enforcing' })
  await admin.send('POST', `/policies/${textOf(draft)}/publish`, { body: { revision: 1 } })
  return textOf(draft)
}

/** Sends a text that is denied. */
async function denied(app: AdminApp, content: string): Promise<{ requestId: string; eventId: string }> {
  const body = { model: 'gatehouse-echo', max_tokens: 50, messages: [{ role: 'user', content }] }
  const response = await app.post('/v1/messages', body)
  assert.equal(response.status, 400)
  const { policy } = (await response.json()) as { policy: { event_id: string } }
  return { requestId: response.headers.get('x-request-id') ?? '', eventId: policy.event_id }
}

describe('gatehouse explain', () => {
  it('prints the rule, what it acted on and what would have passed, for a request and for its event', async () => {
    await using scene = await openCommandLine()
    await using app = await startAdminApp({
      config: { storage: { data_dir: scene.dataDir }, audit: { content: 'full' } },
    })
    const policy = await publish(app, 'Never mention "Project Falcon".')
    const { requestId, eventId } = await denied(app, 'What is Project Falcon?')
    const { status, output } = await scene.call('explain', requestId, '--texts')
    assert.equal(status, 0)
    assert.match(output, new RegExp(`^${requestId} {2}refuse; effect: refuse\n`))
    assert.match(
      output,
      new RegExp(`decided by the policy "No code names" \\(${policy}\\), version 1, about the request`),
    )
    assert.match(output, /score 10000 of 5000; enforced$/m)
    assert.match(output, /phrase +Project Falcon +messages\[0\] +8-22 +- +Project Falcon/)
    assert.match(output, /without "Falcon" in messages\[0\]/)
    assert.match(output, /always_blocked +/)
    const byEvent = await scene.call('explain', eventId)
    assert.match(byEvent.output, /without characters 16-22 in messages\[0\]/)
    const json = await scene.json('explain', eventId)
    assert.deepEqual([json.request_id, json.deciding.policy.id], [requestId, policy])
  })

  it('explains a text that is given, where none is kept', async () => {
    await using scene = await openCommandLine()
    await using app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const policy = await publish(app, 'cel:text.contains("falcon") ? 0.6 : 0.0')
    const { requestId } = await denied(app, 'about the falcon')
    const { output } = await scene.call('explain', requestId)
    assert.match(output, /based on the audit log alone/)
    assert.match(
      output,
      new RegExp(`with a threshold of 6001 in ${policy}; of 0 other denials in seven days, 0 would have passed, too`),
    )
    const given = await scene.call('explain', requestId, '--text', 'about the falcon')
    assert.match(given.output, /without "falcon" in messages\[0\]\.content\[0\]/)
    const other = await scene.call('explain', requestId, '--text', 'about tea')
    assert.match(other.output, /THE RERUN DIFFERS\ndecision: recorded refuse, now allow/)
  })

  it('rejects a missing id, a text and a file together, and an unknown request', async () => {
    await using scene = await openCommandLine()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    assert.equal((await scene.call('explain')).status, 2)
    assert.equal((await scene.call('explain', 'req_1', '--text', 'a', '-f', 'b')).status, 2)
    const unknown = await scene.call('explain', 'req_nobody')
    assert.deepEqual([unknown.status, /req_nobody/.test(unknown.errors)], [1, true])
  })
})
