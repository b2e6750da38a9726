import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import type { AddressInfo } from 'node:net'
import { startExportScene } from '../../../support/export-scene.ts'
import { textOf, type Json } from '../../../support/administration.ts'

/** Notations of this machine's address and of others that tenants must not reach; `PORT` is a port that is open. */
const notations = [
  'https://127.0.0.1:PORT',
  'https://localhost:PORT',
  'https://2130706433:PORT',
  'https://0x7f.1:PORT',
  'https://0177.0.0.1:PORT',
  'https://127.1:PORT',
  'https://[::1]:PORT',
  'https://[::ffff:127.0.0.1]:PORT',
  'https://[64:ff9b::7f00:1]:PORT',
  'https://169.254.169.254',
  'https://10.0.0.1',
  'http://127.0.0.1:PORT',
  'https://0.0.0.0:PORT',
]

describe('addresses that a tenant must not reach', () => {
  it('are all rejected with the same message as an unreachable one, without a connection attempt', async () => {
    let dialled = 0
    const canary = createServer((socket) => {
      dialled += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const { port } = canary.address() as AddressInfo
    await using scene = await startExportScene({ config: { exports: { allow_addresses: [] } } })
    const messages = new Set<string>()
    for (const notation of [...notations, 'https://nobody.invalid']) {
      const other = await scene.otherOrganization() // tests are limited per minute
      const config = { url: notation.replace('PORT', String(port)), secret: 'a-secret-of-the-webhook-0123' }
      const key = other.admin.key
      const made = await scene.gateway('POST', '/exports', { key, body: { type: 'webhook', enabled: false, config } })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const id = textOf(made.body['export'] as Json)
      const { status, body } = await scene.gateway('POST', `/exports/${id}/test`, { key })
      const { success, message } = body['test'] as Json
      assert.deepEqual([status, success], [200, false], notation)
      messages.add(String(message))
    }
    canary.close()
    assert.deepEqual([...messages], ['The destination could not be reached.'])
    assert.equal(dialled, 0)
  })
})
