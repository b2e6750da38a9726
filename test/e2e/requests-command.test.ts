import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { openCommandLine } from '../support/command-line.ts'

/** A server that keeps texts, and the command line on its data folder. */
async function openServer() {
  const line = await openCommandLine()
  const app = await startTestApp({ storage: { data_dir: line.dataDir }, config: { audit: { content: 'full' } } })
  return {
    ...line,
    async ask(content: string): Promise<string> {
      const message = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content }] }
      const response = await app.post('/v1/messages', message)
      await response.text()
      return response.headers.get('x-request-id') ?? ''
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await line[Symbol.asyncDispose]()
    },
  }
}

describe('the command requests', () => {
  it('shows the texts of a request only with --texts, which the audit log records', async () => {
    await using line = await openServer()
    const id = await line.ask('the falcon flies')
    assert.doesNotMatch((await line.call('requests', 'show', id)).output, /falcon/)
    assert.match(
      (await line.call('requests', 'show', id, '--texts')).output,
      /^PROMPT \(full\)\nuser: the falcon flies$/m,
    )
    const { data } = await line.json('audit', 'list', '--kind', 'audit.content.read')
    assert.deepEqual(
      data.map((event: { resource_id: string; actor: { type: string } }) => [event.resource_id, event.actor.type]),
      [[id, 'operator']],
    )
  })
})
