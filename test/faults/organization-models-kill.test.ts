import assert from 'node:assert/strict'
import { it } from 'node:test'
import { adminOf } from '../support/administration.ts'
import { answerWith } from '../support/paid-app.ts'
import { startProgram, type Program } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'

const program = new URL('programs/paid-app.ts', import.meta.url)

type Started = { readonly url: string; readonly keys?: { readonly api_key: string; readonly admin_key: string } }

async function nextLine(running: Program): Promise<Started> {
  for await (const line of running.lines) return JSON.parse(line) as Started
  throw new Error('the app did not start')
}

it('an upstream and a model survive a kill right after their creation was answered', async () => {
  await using folder = await temporaryFolder()
  await using upstream = await startUpstream(answerWith('Hello', { input: 1, output: 1 }))
  await using killed = startProgram(program, [folder.path, upstream.url])
  const { url, keys } = await nextLine(killed)
  const admin = adminOf(url, keys?.admin_key ?? '')
  await admin.post('/upstreams', {
    name: 'own',
    kind: 'openai-chat',
    base_url: upstream.url,
    api_key: 'sk-of-the-test',
  })
  const created = await admin.send('POST', '/models', { body: { name: 'added', targets: [{ upstream: 'own' }] } })
  assert.equal(created.status, 201)
  await killed.kill()

  await using next = startProgram(program, [folder.path, upstream.url])
  const restarted = await nextLine(next)
  const response = await fetch(`${restarted.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys?.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'added', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  assert.equal(response.status, 200)
  assert.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer sk-of-the-test')
})
