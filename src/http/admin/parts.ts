import type { Clock } from '../../base/clock.ts'
import type { Administer } from '../../domain/identity/administer.ts'
import type { createAdministrationLimits } from '../../domain/identity/administration-limits.ts'
import type { AuditLogStore } from '../../domain/identity/audit-log.ts'
import type { IdempotencyStore } from '../../domain/identity/idempotency.ts'
import type { RecordedRegistry } from '../../domain/identity/recorded-registry.ts'
import type { RegistryStore } from '../../domain/identity/store.ts'
import type { Policies } from '../../domain/policy/administer.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import type { CallerOf } from '../caller.ts'

/** What administration keeps: inside one transaction for changes, outside of any for questions. */
export type AdminStores = {
  readonly registry: RegistryStore
  readonly policies: PolicyStore
  readonly idempotency: IdempotencyStore
  readonly audit: AuditLogStore
}

export type AdminParts = {
  readonly callerOf: Pick<CallerOf, 'administrator'>
  readonly clock: Clock
  readonly limits: ReturnType<typeof createAdministrationLimits>
  readonly reads: AdminStores
  readonly administer: Administer<AdminStores>
  readonly policies: Policies
  readonly registry: RecordedRegistry
}
