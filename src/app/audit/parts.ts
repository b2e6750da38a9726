import type { Clock } from '../../base/clock.ts'
import type { Eventually } from '../../base/eventually.ts'
import type { Ids } from '../../base/ids.ts'
import type { Seal } from '../../base/seal.ts'
import type { ExportStore } from '../../domain/audit/export/export-sink.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import { createEventMaker } from '../../domain/audit/event/event-maker.ts'
import { createSigningKey } from '../../domain/audit/chain/signing-key.ts'
import { keysById, type TrustedKeys } from '../../domain/audit/chain/trusted-keys.ts'
import { deriveKey } from '../../domain/identity/key-format.ts'
import type { Ground } from '../ground.ts'
import packageFile from '../../../package.json' with { type: 'json' }

export type AuditParts = ReturnType<typeof createAuditParts>

/** What everybody who writes to the audit log needs: the same on every node, since it comes from the server's secret. */
export function createAuditParts({ clock, ids, secret }: { clock: Clock; ids: Ids; secret: string }) {
  const key = createSigningKey(deriveKey(secret, 'audit checkpoints'))
  const events = createEventMaker({
    clock,
    ids,
    authorityUid: ['gatehouse', key.keyId].join('/'),
    productVersion: packageFile.version,
    digestKey: deriveKey(secret, 'audit texts'),
  })
  const trustedKeys = (): TrustedKeys => ({ source: 'server_secret', keys: keysById([key.publicKey]) })
  return { key, events, trustedKeys }
}

/** What the audit log needs to be at work. */
export type AuditOfficeParts = Ground & {
  readonly audit: AuditParts
  readonly reads: { readonly events: AuditReads; readonly exports: ExportStore }
  /** For the secrets of sinks. */
  readonly seal: Seal
  /** Organizations that want no answer without its event in the log, whatever the configuration says for all. */
  readonly isAuditRequired: (organizationId: string) => Eventually<boolean>
}
