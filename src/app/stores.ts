import { createCheckpointFiles } from '../adapters/stores/checkpoint-files.ts'
import { auditReads } from '../adapters/stores/sql/audit/events.ts'
import { auditLogStore } from '../adapters/stores/sql/audit/log.ts'
import { createChange } from '../adapters/stores/sql/change.ts'
import type { Transaction } from '../adapters/stores/sql/database.ts'
import { idempotencyStore } from '../adapters/stores/sql/identity/idempotency.ts'
import { ownershipStore } from '../adapters/stores/sql/identity/ownership.ts'
import type { AuditReads } from '../domain/audit/log.ts'
import { createAuditedMutation, type AuditedMutation } from '../domain/mutations/audited-mutation.ts'
import { createAuditParts } from './audit-parts.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createStoredEncryptions } from './storage/secret-rotation.ts'

type StoresParts = Pick<Infrastructure, 'database' | 'clock' | 'ids' | 'random' | 'changes' | 'keyring'> & {
  /** Where the last checkpoints are kept outside of the database. */
  readonly dataDir: string
}

export type Stores = ReturnType<typeof createStores>

/** Opens stores: for mutations those of one transaction, with its audit record; for reads those outside of any. */
export function createStores({ database, clock, ids, random, changes, keyring, dataDir }: StoresParts) {
  const audit = { ...createAuditParts({ clock, ids, keyring }), signed: createCheckpointFiles(dataDir) }
  const encryptions = createStoredEncryptions(keyring, random)
  const { engine } = database
  const reading = readOnly((sql, params) => database.read(sql, params))
  const reporting = readOnly((sql, params) => database.report(sql, params))
  const ofEveryMutation = (tx: Transaction) => ({
    audit: auditLogStore(tx, audit.events),
    ownership: ownershipStore(tx),
    idempotency: idempotencyStore(tx, { engine, encryption: encryptions.keptReplies }),
  })
  const eventsIn = (tx: Transaction): AuditReads => auditReads(tx, { isPartitioned: engine === 'postgres' })
  return {
    audit,
    encryptions,
    reading,
    eventsIn,
    /** For those who must see the last event: a replica for reports may lag. */
    auditLog: eventsIn(reading),
    /** For lists and reports, which may take seconds. */
    reportedEvents: eventsIn(reporting),

    /** The stores that `open` names, with those that every mutation has. Nothing else is opened. */
    of<Opened extends object>(open: (tx: Transaction) => Opened) {
      const opened = (tx: Transaction) => ({ ...ofEveryMutation(tx), ...open(tx) })
      const change = createChange({ database, clock, changes, open: opened })
      const mutate: AuditedMutation<ReturnType<typeof opened>> = createAuditedMutation({ change, ids, clock })
      return { reads: opened(reading), mutate }
    },
  }
}

/** Lets the stores read outside of a transaction. */
const readOnly = (query: Transaction['query']): Transaction => ({
  query,
  run: () => Promise.reject(new Error('writing needs a transaction')),
})
