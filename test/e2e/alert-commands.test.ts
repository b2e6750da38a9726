import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

it('gatehouse alerts creates, lists, changes, tests and deletes channels and rules', async () => {
  await using scene = await openAsCode()
  const file = (name: string, value: object): string => {
    const path = join(scene.path, name)
    writeFileSync(path, JSON.stringify(value))
    return path
  }
  const config = { url: 'http://127.0.0.1:1/hook', secret: 'a-secret-of-the-webhook-0123' }
  const channel = await scene.json('alerts', 'create', '-f', file('c.json', { kind: 'webhook', name: 'Hook', config }))
  assert.equal(channel.config.secret, '••••0123')
  const rule = await scene.json(
    'alerts',
    'create',
    '-f',
    file('r.json', { kind: 'errors', name: 'Errors', channel_ids: [channel.id] }),
  )
  assert.match(
    (await scene.run('alerts', 'rules')).output,
    new RegExp(`${rule.id} +errors +Errors +ok +5 percent 15m +${channel.id}`),
  )
  assert.match((await scene.run('alerts', 'channels')).output, new RegExp(`${channel.id} +webhook +Hook +active +0`))
  assert.equal((await scene.json('alerts', 'update', rule.id, '-f', file('u.json', { threshold: 9 }))).threshold, 9)
  assert.equal((await scene.json('alerts', 'pause', rule.id)).state, 'paused')
  assert.equal((await scene.json('alerts', 'resume', rule.id)).state, 'ok')
  const tested = await scene.run('alerts', 'test', channel.id)
  assert.deepEqual([tested.status, tested.output], [1, 'The destination could not be reached.'])
  assert.equal((await scene.run('alerts', 'test', rule.id)).status, 2)
  assert.match((await scene.run('alerts', 'list', '--firing')).output, /^ID/)
  assert.equal((await scene.run('alerts', 'delete', rule.id)).output, `${rule.id} is deleted.`)
  assert.equal((await scene.run('alerts', 'delete', channel.id)).status, 0)
  assert.equal((await scene.run('alerts', 'show', channel.id)).status, 1)
})
