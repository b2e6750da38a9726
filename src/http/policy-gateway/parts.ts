import type { SinkAdministration } from '../../domain/audit/export/mutations.ts'
import type { ExportStore } from '../../domain/audit/export/export-sink.ts'
import type { AuditReads, EventLog } from '../../domain/audit/log.ts'
import type { ConfigurationAdministration } from '../../domain/gateway-config/mutations.ts'
import type { GatewayStore } from '../../domain/gateway-config/store.ts'
import type { Simulate } from '../../domain/evaluation/simulate.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import type { AuditedMutation } from '../../domain/mutations/audited-mutation.ts'
import type { IdempotencyStore } from '../../domain/mutations/idempotency.ts'
import type { OwnershipStore } from '../../domain/mutations/ownership.ts'
import type { SinkTest } from '../../pipeline/export/test-sink.ts'
import type { CallerOf } from '../caller.ts'
import type { DecodeBody } from '../resources/scenario.ts'
import type { ResourceLimitParts } from '../resources/limit.ts'
import type { ResourceRoutes, ResourceActor } from '../resources/route.ts'
import type { DocumentedSinkKind } from './exports/documented-sinks.ts'

/** The stores of the policy gateway: one transaction for a mutation, no transaction for reads. */
export type GatewayStores = {
  readonly exports: ExportStore
  readonly gateway: GatewayStore
  readonly policies: Pick<PolicyStore, 'find' | 'unknownProjects'>
  readonly events: AuditReads
  readonly eventLog: EventLog
  readonly idempotency: IdempotencyStore
  readonly ownership: OwnershipStore
}

export type GatewayParts = ResourceLimitParts & {
  readonly callerOf: Pick<CallerOf, 'manager'>
  readonly reads: GatewayStores
  readonly mutate: AuditedMutation<GatewayStores>
  readonly exports: SinkAdministration
  readonly sinkKinds: readonly DocumentedSinkKind[]
  readonly configurations: ConfigurationAdministration
  readonly testSink: SinkTest
  readonly simulate: Simulate
  readonly decodeBody: DecodeBody
}

export type GatewayRoutes = ResourceRoutes<ResourceActor, GatewayStores>
