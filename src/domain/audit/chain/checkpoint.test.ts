import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  isCheckpointDue,
  keyIdOf,
  pointOf,
  signCheckpoint,
  verifyCheckpoints,
  type KeyAt,
  type SignedCheckpoint,
} from './checkpoint.ts'
import { afterIo } from '../../../base/after-io.ts'
import { checkpointFacts, checkpointIn } from './checkpoint-event.ts'
import { createEvent } from '../event/event.ts'

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey, keyId: keyIdOf(publicKey) }
}

const current = keyPair()
const untrustedKey = keyPair()
const keyAt = (...trusted: { keyId: string; publicKey: KeyObject }[]): KeyAt => {
  const keys = new Map(trusted.map(({ keyId, publicKey }) => [keyId, publicKey]))
  return (keyId) => keys.get(keyId)
}
const keys = keyAt(current)

function series(count: number, fingerprint?: string): SignedCheckpoint[] {
  const checkpoints: SignedCheckpoint[] = []
  for (let at = 1; at <= count; at++) {
    const end = {
      chainUid: 'org_1/1',
      sequence: at * 10,
      fingerprint: (fingerprint ?? `${at}`).repeat(64),
      timeMs: at * 60_000,
    }
    checkpoints.push(signCheckpoint(end, checkpoints.at(-1), current))
  }
  return checkpoints
}

const at = (list: readonly SignedCheckpoint[], index: number): SignedCheckpoint => list[index] ?? assert.fail()

describe('checkpoints', () => {
  it('carry the sequence, the count since the previous one, and its digest', () => {
    const [first, second] = series(2)
    assert.ok(first && second)
    assert.deepEqual([first.count, first.previous], [10, null])
    assert.equal(second.count, 10)
    assert.match(second.previous ?? '', /^[0-9a-f]{64}$/)
    assert.deepEqual(pointOf(second), { chainUid: 'org_1/1', sequence: 20, fingerprint: '2'.repeat(64) })
  })

  it('verify, also from the middle of the series and after a change of the key', async () => {
    const old = series(3)
    const next = keyPair()
    const end = { chainUid: 'org_1/1', sequence: 40, fingerprint: 'f'.repeat(64), timeMs: 1 }
    const all = [...old, signCheckpoint(end, old.at(-1), next)]
    const both = keyAt(current, next)
    assert.equal(await verifyCheckpoints(all, both), undefined)
    assert.equal(await verifyCheckpoints(all.slice(2), both), undefined)
    assert.deepEqual(await verifyCheckpoints(all, keys), { sequence: 40, reason: 'unknown_key' })
  })

  it('are verified without blocking the event loop', async () => {
    const checking = verifyCheckpoints(series(50), keys).then(() => 'all are checked')
    assert.equal(await Promise.race([checking, afterIo()]), undefined)
    assert.equal(await checking, 'all are checked')
  })

  it('are rejected if another key signed under the id of the trusted one', async () => {
    const [first] = series(1)
    const forged = signCheckpoint({ ...pointOf(at(series(1), 0)), timeMs: 60_000 }, undefined, {
      ...untrustedKey,
      keyId: current.keyId,
    })
    assert.ok(first)
    assert.deepEqual(await verifyCheckpoints([forged], keys), { sequence: 10, reason: 'bad_signature' })
  })

  it('are rejected if one of them is removed', async () => {
    const [first, , third] = series(3)
    assert.ok(first && third)
    assert.deepEqual(await verifyCheckpoints([first, third], keys), { sequence: 30, reason: 'unlinked' })
  })

  it('are rejected if one of them is replaced by another valid one', async () => {
    const [first] = series(1)
    const [forged] = series(1, 'f')
    assert.ok(first && forged)
    const end = { chainUid: 'org_1/1', sequence: 20, fingerprint: '2'.repeat(64), timeMs: 120_000 }
    const second = signCheckpoint(end, first, current)
    assert.equal(await verifyCheckpoints([first, second], keys), undefined)
    assert.deepEqual(await verifyCheckpoints([forged, second], keys), { sequence: 20, reason: 'unlinked' })
  })

  it('are rejected if any field is changed', async () => {
    const signed = series(2)
    const changes = fc.constantFrom<Partial<SignedCheckpoint>>(
      { chain_uid: 'org_2/1' },
      { sequence: 21 },
      { fingerprint: '0'.repeat(64) },
      { count: 9 },
      { time: 1 },
      { previous: null },
      { previous: 'ab' },
      { signature: at(signed, 0).signature },
      { signature: '' },
      { signature: 'not base64 %' },
    )
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const bad = [at(signed, 0), { ...at(signed, 1), ...change }]
        assert.equal((await verifyCheckpoints(bad, keys))?.reason, 'bad_signature')
      }),
    )
  })
})

describe('a checkpoint in an event', () => {
  const parts = { id: 'evt_1', loggedMs: 1, productVersion: '0' }

  it('is read back unchanged, and still verifies', async () => {
    const signed = at(series(1), 0)
    const { document } = createEvent(checkpointFacts('org_1', signed), parts)
    const read = checkpointIn(document)
    assert.deepEqual(read, signed)
    assert.equal(await verifyCheckpoints(read ? [read] : [], keys), undefined)
  })

  it('is undefined in an event without one', () => {
    const { document } = createEvent(
      { ...checkpointFacts('org_1', at(series(1), 0)), details: { checkpoint: {} } },
      parts,
    )
    assert.equal(checkpointIn(document), undefined)
  })
})

describe('a checkpoint is due', () => {
  it('after a thousand events, or a minute with at least one', () => {
    assert.equal(isCheckpointDue(999, 59_999), false)
    assert.equal(isCheckpointDue(1_000, 0), true)
    assert.equal(isCheckpointDue(1, 60_000), true)
  })

  it('every hour without events', () => {
    assert.equal(isCheckpointDue(0, 3_599_999), false)
    assert.equal(isCheckpointDue(0, 3_600_000), true)
  })
})
