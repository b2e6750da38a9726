import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Random } from '../base/random.ts'
import type { Changes } from '../domain/identity/changes.ts'
import type { Digest } from '../domain/identity/key-format.ts'
import { createRegistry } from '../domain/identity/registry.ts'
import { createChange } from '../adapters/stores/sql/change.ts'
import type { Database, Transaction } from '../adapters/stores/sql/database.ts'
import { registryStore } from '../adapters/stores/sql/registry.ts'
import { createOperations } from './operations.ts'

export type AdministrationParts = {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly ids: Ids
  readonly changes: Changes
  readonly digest: Digest
}

/** All that changes organizations: the stores of one transaction, and the operations over them. */
export function createAdministration({ database, clock, random, ids, changes, digest }: AdministrationParts) {
  const open = (tx: Transaction) => ({ registry: registryStore(tx) })
  const registry = createRegistry({ ids, clock, random, digest })
  const change = createChange({ database, clock, changes, open })
  const reads = open(readingOnly(database))
  return { registry, change, reads, operations: createOperations({ registry, ids, reads: reads.registry, change }) }
}

/** The stores' questions outside of any transaction. */
const readingOnly = (database: Database): Transaction => ({
  query: (sql, params) => database.read(sql, params),
  run: () => Promise.reject(new Error('writing needs a transaction')),
})
