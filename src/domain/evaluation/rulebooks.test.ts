import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { Fault } from '../../base/fault.ts'
import { createChanges } from '../mutations/changes.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import { createRulebooks } from './rulebooks.ts'

const unreachable = new Fault('unavailable', 'storage_unavailable', 'unreachable')

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
    exceptions: { listLive: async () => [] },
    clock: time.clock,
    changes,
    compileRule: () => assert.fail('there are no policies'),
    judgeOf: () => undefined,
    patterns: {
      compile: () => assert.fail('there are no terms'),
      compileSet: () => assert.fail('there are no terms'),
    },
  })
  const version = async (): Promise<number> => (await rulebookOf('org_1')).gateway.version
  return { ...time, changes, stored, version }
}

it('rules changed right before an outage stay as they were, and are loaded when it is over', async () => {
  const { changes, stored, version, advance } = createScene()
  assert.equal(await version(), 1)
  stored.version = 2
  changes.announce('org_1')
  stored.error = unreachable
  assert.deepEqual([await version(), await version()], [1, 1])
  advance(5 * 60_000)
  await assert.rejects(version(), (error) => error === unreachable)
  stored.error = undefined
  assert.equal(await version(), 2)
})

it('rules that were never loaded have no fallback', async () => {
  const { stored, version } = createScene()
  stored.error = unreachable
  await assert.rejects(version(), (error) => error === unreachable)
})
