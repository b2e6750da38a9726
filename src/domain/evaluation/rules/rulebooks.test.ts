import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { Fault } from '../../../base/fault.ts'
import { createChanges } from '../../identity/changes.ts'
import { unsaved } from '../../gateway-config/configuration.ts'
import { createRulebooks } from './rulebooks.ts'

const away = new Fault('unavailable', 'storage_unavailable', 'away')

function createScene() {
  const time = createHandClock()
  const changes = createChanges(time.clock)
  const stored = { version: 1, error: undefined as Fault | undefined }
  const rulebookOf = createRulebooks({
    gateway: {
      async find() {
        if (stored.error) throw stored.error
        return { ...unsaved, version: stored.version }
      },
    },
    policies: { listInForce: async () => [] },
    changes,
    compileRule: () => assert.fail('there are no policies'),
    patterns: { compile: () => assert.fail('there are no terms') },
  })
  const version = async (): Promise<number> => (await rulebookOf('org_1')).gateway.version
  return { ...time, changes, stored, version }
}

it('rules that were changed right before an outage hold as they were, and are read once it is over', async () => {
  const { changes, stored, version, advance } = createScene()
  assert.equal(await version(), 1)
  stored.version = 2
  changes.announce('org_1')
  stored.error = away
  assert.deepEqual([await version(), await version()], [1, 1])
  advance(5 * 60_000)
  await assert.rejects(version(), (error) => error === away)
  stored.error = undefined
  assert.equal(await version(), 2)
})

it('rules that were never read are not made up', async () => {
  const { stored, version } = createScene()
  stored.error = away
  await assert.rejects(version(), (error) => error === away)
})
