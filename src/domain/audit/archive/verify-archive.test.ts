import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditDocuments } from '../../../../test/support/audit-documents.ts'
import { startOfChain } from '../chain/chain.ts'
import { toRow } from '../chain/chained-event.ts'
import { createSigningKey, signCheckpoint, type SignedCheckpoint } from '../chain/checkpoint.ts'
import { handOver } from '../chain/handover.ts'
import { keysById, type TrustedKeys } from '../chain/trusted-keys.ts'
import type { ExportedEntry } from '../verify-export.ts'
import { nameOf } from './archived-object.ts'
import { signManifest } from './manifest.ts'
import { verifyArchive, type FoundObject } from './verify-archive.ts'

const [oldKey, newKey, foreignKey] = [1, 2, 3].map((byte) => createSigningKey(Buffer.alloc(32, byte))) as [
  Key,
  Key,
  Key,
]
type Key = ReturnType<typeof createSigningKey>

const rows = auditDocuments({ count: 4 }).map(toRow)
const { chainUid } = startOfChain('org_1')

function checkpointAt(sequence: number, key: Key, before?: SignedCheckpoint): SignedCheckpoint {
  const fingerprint = rows[sequence - 1]?.fingerprint ?? ''
  const handover = before ? handOver(chainUid, { from: oldKey, to: newKey.publicKey }) : undefined
  return signCheckpoint({ chainUid, sequence, fingerprint, timeMs: sequence, handover }, before, key)
}

const first = checkpointAt(2, oldKey)
const second = checkpointAt(4, newKey, first)

/** An object with two events, whose manifest is signed with this key. */
function objectOf(at: 0 | 1, key: Key): FoundObject {
  const own = rows.slice(at * 2, at * 2 + 2)
  const name = nameOf({ organizationId: 'org_1', day: `2026-01-0${at + 1}`, first: at * 2 + 1, last: at * 2 + 2 })
  const manifest = {
    name,
    chain_uid: chainUid,
    day: `2026-01-0${at + 1}`,
    first_sequence: at * 2 + 1,
    last_sequence: at * 2 + 2,
    count: 2,
    first_fingerprint: own[0]?.fingerprint ?? '',
    last_fingerprint: own[1]?.fingerprint ?? '',
    bytes: 1,
    sha256: `digest ${at}`,
    previous: at === 0 ? null : 'digest 0',
    checkpoints: [at === 0 ? first : second],
  }
  return { name, manifest: signManifest(manifest, key), sha256: `digest ${at}`, entries: () => entries(own) }
}

async function* entries(own: typeof rows): AsyncGenerator<ExportedEntry> {
  for (const row of own) yield { where: 'here', row, isUnaltered: true }
}

async function verifyWithKey(objects: readonly FoundObject[], trusted: Key) {
  const keys: TrustedKeys = { source: 'pinned', keys: keysById([trusted.publicKey]) }
  const { log, archive } = await verifyArchive(
    { path: 'folder', organizationId: 'org_1', objects },
    {
      keys,
      handoversOf: async () => [],
      written: objects.map(({ name }) => name),
      read: async () => ({
        organization: 'org_1',
        chainUid,
        first: 4,
        last: 9,
        at: [[4, rows[3]?.fingerprint ?? '']],
      }),
      readBody: async () => undefined,
    },
  )
  return { signedTo: log.signed?.to, findings: archive.findings.map(({ reason }) => reason) }
}

describe('the verification of an archive after the server secret was rotated', () => {
  const whole = { signedTo: 4, findings: [] }

  it('trusts manifests of both keys, whichever of them is trusted', async () => {
    const objects = [objectOf(0, oldKey), objectOf(1, newKey)]
    assert.deepEqual(await verifyWithKey(objects, newKey), whole)
    assert.deepEqual(await verifyWithKey(objects, oldKey), whole)
  })

  it('trusts a manifest that the new key signed for events of the old one', async () => {
    const objects = [objectOf(0, newKey), objectOf(1, newKey)]
    assert.deepEqual(await verifyWithKey(objects, newKey), whole)
    assert.deepEqual(await verifyWithKey(objects, oldKey), whole)
  })

  it('does not trust a manifest that the old key signed for events after the handover', async () => {
    const { findings } = await verifyWithKey([objectOf(0, oldKey), objectOf(1, oldKey)], newKey)
    assert.deepEqual(findings, ['unknown_key'])
  })

  it('does not trust a key that nobody handed over to', async () => {
    const { findings } = await verifyWithKey([objectOf(0, foreignKey), objectOf(1, newKey)], newKey)
    assert.deepEqual(findings, ['unknown_key'])
  })
})
