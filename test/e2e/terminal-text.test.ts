import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { it } from 'node:test'
import { openCommandLine } from '../support/command-line.ts'

const hostile = 'x\u001b]0;owned\u0007\u202egpj.exe\u009b2J'
const escaped = 'x\\u001b]0;owned\\u0007\\u202egpj.exe\\u009b2J'
const raw = /[^\P{Cc}\n\t]|\p{Bidi_Control}/u

it('commands escape control characters of tenants, and --json keeps them', async () => {
  await using line = await openCommandLine()
  await line.call('setup')
  const fields = ['--name', 'P', '--description', hostile, '--rule', hostile]
  const made = JSON.parse((await line.call('policies', 'create', ...fields, '--json')).output)
  const shown = await line.call('policies', 'show', made.id)
  assert.doesNotMatch(shown.output, raw)
  assert.ok(shown.output.includes(escaped))
  assert.equal(JSON.parse((await line.call('policies', 'show', made.id, '--json')).output).draft.rule, hostile)
  const unknown = await line.call('policies', 'show', hostile)
  assert.equal(unknown.status, 1)
  assert.doesNotMatch(unknown.errors, raw)
  const wrong = await line.call('policies', hostile)
  assert.doesNotMatch(wrong.errors, raw)
  assert.match((await line.call('export')).output, /\u202egpj/)
})

it('the doctor escapes what an upstream answers', async () => {
  const upstream = createServer((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: hostile, type: 'invalid_request_error' } }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => upstream.once('listening', resolve))
  try {
    await using line = await openCommandLine()
    const { port } = upstream.address() as AddressInfo
    const file = join(line.folder, 'gatehouse.yaml')
    writeFileSync(
      file,
      `upstreams: [{ name: far, kind: openai-chat, base_url: "http://127.0.0.1:${port}/v1" }]
models: [{ name: m, targets: [{ upstream: far, model: m }], price: { input: 0, output: 0 } }]`,
    )
    await line.call('setup', '--config', file)
    const { output } = await line.call('doctor', '--config', file)
    assert.ok(output.includes(escaped))
    assert.doesNotMatch(output, raw)
  } finally {
    upstream.close()
  }
})
