import type { AuditedMutation } from '../../domain/mutations/audited-mutation.ts'
import type { ArchiveStore } from '../../domain/audit/archive/archived-object.ts'
import type { TrustedKeys } from '../../domain/audit/chain/trusted-keys.ts'
import type { ExportStore } from '../../domain/audit/export/export-sink.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import type { VerificationAdministration } from '../../domain/audit/verification/create.ts'
import type { VerificationStore } from '../../domain/audit/verification/verification.ts'
import type { AuditLogStore } from '../../domain/mutations/audit-log.ts'
import type { IdempotencyStore } from '../../domain/mutations/idempotency.ts'
import type { ApplyLeaseStore } from '../../domain/mutations/apply-lease.ts'
import type { OwnershipStore } from '../../domain/mutations/ownership.ts'
import type { KeyChanges } from '../../domain/identity/key-changes.ts'
import type { KeyDefaults } from '../../domain/identity/permissions.ts'
import type { AuditedDirectory } from '../../domain/identity/audited-directory.ts'
import type { Administrator } from '../../domain/identity/principal.ts'
import type { ConsoleSessionStore } from '../../domain/members/console-session-store.ts'
import type { Members } from '../../domain/members/members.ts'
import type { MemberStore } from '../../domain/members/member-store.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import type { FindEvidence } from '../../domain/evaluation/evidence.ts'
import type { Simulate } from '../../domain/evaluation/simulate.ts'
import type { GatewayStore } from '../../domain/gateway-config/store.ts'
import type { ConfigurationAdministration } from '../../domain/gateway-config/mutations.ts'
import type { BacktestAdministration } from '../../domain/evaluation/backtest/create.ts'
import type { BacktestStore } from '../../domain/evaluation/backtest/backtest.ts'
import type { DecisionHours, ReportedSpikes } from '../../domain/evaluation/spikes/decision-counts.ts'
import type { InspectRule } from '../../domain/policy/inspect-rule.ts'
import type { OverrideStore } from '../../domain/limits/overrides.ts'
import type { PolicyAdministration } from '../../domain/policy/mutations.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import type { Ids } from '../../base/ids.ts'
import type { GrantStore, LedgerStore } from '../../domain/credits/ledger-store.ts'
import type { LedgerReports } from '../../domain/credits/reports.ts'
import type { Catalogue } from '../../domain/inference/catalogue.ts'
import type { ListServedModels } from '../../domain/inference/served-models.ts'
import type { Upstreams } from '../../domain/inference/upstream-status.ts'
import type { Preflight } from '../../pipeline/billing/preflight.ts'
import type { CallerOf } from '../caller.ts'
import type { ReadSystem } from '../../domain/system/system.ts'
import type { TrafficStore } from '../../domain/traffic/traffic.ts'
import type { Features } from './organization/me.ts'
import type { ResourceLimitParts } from '../resources/limit.ts'
import type { DecodeBody } from '../resources/scenario.ts'
import type { ResourceRoutes } from '../resources/route.ts'

/** The stores of administration: one transaction for a mutation, no transaction for reads. */
export type AdminStores = {
  readonly directory: DirectoryStore
  readonly members: MemberStore
  readonly sessions: ConsoleSessionStore
  readonly policies: PolicyStore
  readonly backtests: BacktestStore
  readonly idempotency: IdempotencyStore
  readonly ownership: OwnershipStore
  readonly applyLeases: ApplyLeaseStore
  readonly audit: AuditLogStore
  readonly events: AuditReads
  readonly verifications: VerificationStore
  readonly grants: GrantStore
  readonly overrides: OverrideStore
}

/** Stores that administration only reads. */
export type AdminReads = AdminStores & {
  readonly archive: ArchiveStore
  readonly ledger: LedgerReports
  readonly exports: Pick<ExportStore, 'list'>
  readonly traffic: Pick<TrafficStore, 'sums'>
  readonly gateway: Pick<GatewayStore, 'find' | 'findVersion'>
  readonly decisions: DecisionHours
  readonly spikes: Pick<ReportedSpikes, 'recent'>
}

/** What administrators see of the installation. */
export type SystemParts = {
  readonly listServedModels: ListServedModels
  readonly upstreams: Upstreams
  /** This process, and the machine that it runs on. */
  readonly node: { readonly id: string; readonly host: string }
  readonly readSystem: ReadSystem
  /** False: only the operator sees what belongs to the installation. */
  readonly isSystemVisible: boolean
}

type SharedParts = ResourceLimitParts & SystemParts

export type AdminParts = SharedParts & {
  readonly callerOf: Pick<CallerOf, 'administrator'>
  readonly reads: AdminReads
  readonly mutate: AuditedMutation<AdminStores>
  readonly policies: PolicyAdministration
  readonly inspectRule: InspectRule
  readonly simulate: Simulate
  readonly findEvidence: FindEvidence
  readonly decodeBody: DecodeBody
  readonly configurations: Pick<ConfigurationAdministration, 'check'>
  readonly backtests: BacktestAdministration
  readonly directory: AuditedDirectory
  readonly keyChanges: KeyChanges
  readonly members: Members
  readonly audit: { readonly trustedKeys: () => TrustedKeys }
  readonly verifications: VerificationAdministration
  readonly keyDefaults: KeyDefaults
  readonly preflight: Preflight
  readonly catalogue: Pick<Catalogue, 'find' | 'entryOf'>
  readonly ids: Ids
  readonly balances: Pick<LedgerStore, 'balance'>
  /** What is configured, for clients that show it. */
  readonly features: Features
  readonly version: string
  /** Where models are called; null if it is the address that administration is requested at. */
  readonly inferenceUrl: () => string | null
  /** Requests that this node is answering. */
  readonly inFlight: { readonly count: () => number }
  /** Whether the server has begun to stop. */
  readonly isShuttingDown: () => boolean
  /** The parts of the service, and what is wrong with each. */
  readonly readiness: readonly HealthCheck[]
  /** The price of a credit. */
  readonly creditUsd: number
  /** False: only the operator changes credits, plans and limits. */
  readonly administratorsManageCredits: boolean
}

export type AdminRoutes = ResourceRoutes<Administrator, AdminStores, AdminReads>

/** A part of the service, and what is wrong with it. */
export type HealthCheck = {
  readonly part: string
  readonly problem: () => Promise<string | undefined>
  readonly isVital?: () => boolean
}
