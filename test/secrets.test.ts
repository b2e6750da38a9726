import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createLog } from '../src/base/log.ts'
import { startTestApp } from './support/app.ts'
import { answerJson, startUpstream } from './support/upstream.ts'

/** Plants a secret everywhere a caller or operator can put one, then searches every output for it. */
it('writes no secret to any log, metric or answer', async () => {
  const planted = {
    upstreamKey: 'upstream-key-0123456789abcdef',
    serverSecret: 'server-secret-0123456789abcdef',
    strangerKey: 'ak_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZab',
    bearer: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl',
    vendorKey: 'sk-proj-0123456789abcdefghij',
  }
  const lines: string[] = []
  await using upstream = await startUpstream(
    answerJson({ error: { message: `key ${planted.upstreamKey} is wrong` } }, 401),
  )
  await using scene = await startTestApp({
    log: createLog({
      level: 'trace',
      secrets: () => [planted.upstreamKey, planted.serverSecret],
      destination: { write: (line) => void lines.push(line) },
    }),
    config: {
      secret: planted.serverSecret,
      upstreams: [{ name: 'u', kind: 'openai-chat', base_url: `${upstream.url}/v1`, api_key: planted.upstreamKey }],
      models: [{ name: 'm', targets: [{ upstream: 'u' }] }],
    },
  })
  const answers: string[] = []
  const send = async (path: string, body: unknown, headers?: Record<string, string>): Promise<void> => {
    answers.push(await (await scene.post(path, body, headers)).text())
  }
  const messages = [{ role: 'user', content: `${planted.vendorKey} ${planted.bearer}` }]
  await send('/v1/chat/completions', { model: 'm', messages })
  await send('/v1/messages', { model: 'm', messages, max_tokens: 5 }, { authorization: planted.bearer })
  await send('/v1/messages', { model: 'm', messages, max_tokens: 5 }, { 'x-api-key': planted.strangerKey })
  await send(`/v1/${planted.strangerKey}?key=${planted.vendorKey}`, {})
  answers.push(await (await scene.get('/metrics')).text(), await (await scene.get('/openapi.json')).text())

  assert.ok(lines.length > 0)
  for (const [name, secret] of Object.entries({ ...planted, ownKey: scene.apiKey, adminKey: scene.adminKey })) {
    const bare = secret.replace('Bearer ', '')
    assert.ok(!lines.some((line) => line.includes(bare)), `${name} stands in the log`)
    if (name !== 'strangerKey')
      assert.ok(!answers.some((answer) => answer.includes(bare)), `${name} stands in an answer`)
  }
})
