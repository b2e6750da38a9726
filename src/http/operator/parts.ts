import type { Ids } from '../../base/ids.ts'
import type { Random } from '../../base/random.ts'
import type { AuditReads, AuditTexts } from '../../domain/audit/log.ts'
import type { LogReport, VerifyParts, VerifyRange } from '../../domain/audit/verify-log.ts'
import type { GrantStore } from '../../domain/credits/ledger-store.ts'
import type { LedgerVerifier } from '../../domain/credits/ledger-verifier.ts'
import type { AuditedMutation } from '../../domain/mutations/audited-mutation.ts'
import type { ConsoleSessionStore } from '../../domain/members/console-session-store.ts'
import type { IdempotencyStore } from '../../domain/mutations/idempotency.ts'
import type { OwnershipStore } from '../../domain/mutations/ownership.ts'
import type { Organizations } from '../../domain/identity/organizations.ts'
import type { Administrator } from '../../domain/identity/principal.ts'
import type { SecretRotation } from '../../domain/server-secret/secret-rotation.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import type { CallerOf } from '../caller.ts'
import type { ResourceLimitParts } from '../resources/limit.ts'
import type { ResourceRoutes } from '../resources/route.ts'

/** The stores of one transaction. */
export type OperatorStores = {
  readonly directory: DirectoryStore
  readonly grants: GrantStore
  readonly texts: AuditTexts
  readonly sessions: ConsoleSessionStore
  readonly idempotency: IdempotencyStore
  readonly ownership: OwnershipStore
}

/** Reads outside of any transaction. */
export type OperatorReads = {
  readonly directory: DirectoryStore
  readonly events: AuditReads
  readonly idempotency: IdempotencyStore
  readonly ownership: OwnershipStore
}

export type OperatorParts = ResourceLimitParts & {
  readonly callerOf: Pick<CallerOf, 'administrator'>
  readonly ids: Ids
  readonly reads: OperatorReads
  readonly mutate: AuditedMutation<OperatorStores>
  readonly organizations: Organizations<OperatorStores>
  readonly secretRotation: SecretRotation
  readonly random: Random
  /** The address of the console; undefined if it is off. */
  readonly consoleUrl: (() => string) | undefined
  readonly ledgerVerifier: LedgerVerifier
  /** `keys`: public keys in PEM to trust in place of those of the server secret. */
  readonly verifyAuditLog: (
    organizationId: string,
    input: VerifyRange & Pick<VerifyParts, 'acceptLate'> & { readonly keys?: readonly string[] | undefined },
  ) => Promise<LogReport>
}

export type OperatorRoutes = ResourceRoutes<Administrator, OperatorStores, OperatorReads>
