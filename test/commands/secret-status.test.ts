import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openCommandLine } from '../support/command-line.ts'

it('secret status names the keys that still need the previous secret', async () => {
  await using line = await openCommandLine()
  await line.call('setup')
  await line.call('secret', 'rotate')
  const { output } = await line.call('secret', 'status')
  assert.match(output, /is still needed by 3 keys/)
  for (const name of ['First administrator key', 'First policy gateway key', 'First application key'])
    assert.match(output, new RegExp(`^  (key|adk)_\\w+  ${name}$`, 'm'))
  const { keys_needing_previous: keys, lost_keys: lost } = await line.json('secret', 'status')
  assert.deepEqual([keys.length, lost], [3, []])
  assert.deepEqual(Object.keys(keys[0]).sort(), ['id', 'name', 'organization_id'])
})

it('doctor finds no server where none runs', async () => {
  await using line = await openCommandLine()
  await line.call('setup')
  assert.doesNotMatch((await line.call('doctor', '--offline')).output, /runs on the data folder/)
})
