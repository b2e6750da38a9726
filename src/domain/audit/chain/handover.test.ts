import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { keyIdOf, signCheckpoint, verifyCheckpoints, type SignedCheckpoint } from './checkpoint.ts'
import { checkpointFacts, checkpointIn } from './checkpoint-event.ts'
import { createEvent } from '../event/event.ts'
import { handedOver, handOver } from './handover.ts'

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey, keyId: keyIdOf(publicKey) }
}

type Key = ReturnType<typeof keyPair>

const [first, second, third, untrusted] = [keyPair(), keyPair(), keyPair(), keyPair()]
const trusting = (...keys: Key[]) => new Map(keys.map(({ keyId, publicKey }) => [keyId, publicKey]))

/** One checkpoint for each key, with a handover wherever the key changes. */
function series(keys: readonly Key[], withHandover = true): SignedCheckpoint[] {
  const checkpoints: SignedCheckpoint[] = []
  for (const [at, key] of keys.entries()) {
    const from = keys[at - 1]
    const handover = withHandover && from && from !== key ? handOver('org_1/1', { from, to: key.publicKey }) : undefined
    const end = {
      chainUid: 'org_1/1',
      sequence: (at + 1) * 10,
      fingerprint: `${at}`.repeat(64),
      timeMs: at,
      handover,
    }
    checkpoints.push(signCheckpoint(end, checkpoints.at(-1), key))
  }
  return checkpoints
}

const problem = (checkpoints: readonly SignedCheckpoint[], trusted: Key) =>
  verifyCheckpoints(checkpoints, handedOver(checkpoints, trusting(trusted)))

describe('a key that hands over to another', () => {
  it('stays trusted for its checkpoints if only the newest key is trusted', async () => {
    assert.equal(await problem(series([first, first, second, second, third]), third), undefined)
  })

  it('makes newer keys trusted if only the old key is pinned', async () => {
    assert.equal(await problem(series([first, first, second, second, third]), first), undefined)
  })

  it('is read back unchanged from an event', async () => {
    const parts = { id: 'evt_1', loggedMs: 1, productVersion: '0' }
    const through = series([first, second]).map((checkpoint) => {
      const { document } = createEvent(checkpointFacts('org_1', checkpoint), parts)
      return checkpointIn(document) ?? assert.fail()
    })
    assert.equal(await problem(through, second), undefined)
  })

  it('is not trusted after its handover, so that a leaked key cannot sign new events', async () => {
    const good = series([first, second])
    const end = { chainUid: 'org_1/1', sequence: 30, fingerprint: 'f'.repeat(64), timeMs: 9 }
    const forged = signCheckpoint(end, good.at(-1), first)
    assert.deepEqual(await problem([...good, forged], second), { sequence: 30, reason: 'unknown_key' })
  })

  it('is not trusted without a handover', async () => {
    const finding = { sequence: 10, reason: 'unknown_key' }
    assert.deepEqual(await problem(series([first, second], false), second), finding)
  })

  it('cannot be forged with an untrusted key', async () => {
    const statement = handOver('org_1/1', { from: untrusted, to: untrusted.publicKey })
    const forgedStatement = {
      ...statement,
      from_key: handOver('org_1/1', { from: first, to: second.publicKey }).from_key,
    }
    const end = { chainUid: 'org_1/1', sequence: 20, fingerprint: 'f'.repeat(64), timeMs: 1, handover: forgedStatement }
    const [before] = series([first])
    const forged = [before ?? assert.fail(), signCheckpoint(end, before, untrusted)]
    assert.deepEqual(await problem(forged, first), { sequence: 20, reason: 'unknown_key' })
  })

  it('hands over in its own chain only', async () => {
    const [before] = series([first])
    const handover = handOver('org_2/1', { from: first, to: second.publicKey })
    const end = { chainUid: 'org_1/1', sequence: 20, fingerprint: 'f'.repeat(64), timeMs: 1, handover }
    const moved = [before ?? assert.fail(), signCheckpoint(end, before, second)]
    assert.deepEqual(await problem(moved, first), { sequence: 20, reason: 'unknown_key' })
  })
})
