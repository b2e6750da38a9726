import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import { createEventMaker } from '../domain/audit/event-maker.ts'
import { createSigningKey } from '../domain/audit/signing-key.ts'
import { deriveKey } from '../domain/identity/key-format.ts'
import packageFile from '../../package.json' with { type: 'json' }

export type AuditParts = ReturnType<typeof createAuditParts>

/** What everybody who writes to the audit log needs: the same on every node, since it comes from the server's secret. */
export function createAuditParts({ clock, ids, secret }: { clock: Clock; ids: Ids; secret: string }) {
  const key = createSigningKey(deriveKey(secret, 'audit checkpoints'))
  const events = createEventMaker({
    clock,
    ids,
    authorityUid: `gatehouse/${key.keyId}`,
    productVersion: packageFile.version,
    digestKey: deriveKey(secret, 'audit texts'),
  })
  return { key, events }
}
