import type { ReadHeld } from '../../domain/budgets/held.ts'
import type { FindEvidence } from '../../domain/evaluation/evidence.ts'
import type { Simulate } from '../../domain/evaluation/simulate.ts'
import type { Explain } from '../../domain/explanation/explain.ts'
import type { ModelSetOf } from '../../domain/inference/model-set.ts'
import type { InspectRule } from '../../domain/policy/inspect-rule.ts'
import type { AdminSurface } from '../../http/admin/routes.ts'
import type { CallerSurface, ResourceActor, Surface } from '../../http/resources/spec.ts'
import type { DecodeBody } from '../../http/resources/scenario.ts'
import type { Route } from '../../http/route.ts'
import type { ReadinessCheck } from '../../http/service/health.ts'
import type { SinkTest } from '../../pipeline/export/test-sink.ts'
import type { Preflight } from '../../pipeline/billing/preflight.ts'
import type { InstallationParts } from '../installation-parts.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Stores } from '../stores.ts'

/** One subject of administration: its routes, for each API that has some of them. */
export type Feature = {
  /** `/v1/organization/*`, on the network and on the control socket. */
  readonly administration?: (surface: AdminSurface) => readonly Route[]
  /** `/api/policy-gateway/*`, on both as well. */
  readonly policyGateway?: (surface: Surface<ResourceActor>) => readonly Route[]
  /** `/v1/decisions/*`, for keys of projects. */
  readonly decisions?: (surface: CallerSurface) => readonly Route[]
  /** `/operator/*`, on the control socket only. */
  readonly operator?: (surface: OperatorSurface) => readonly Route[]
}

export type OperatorSurface = AdminSurface & {
  readonly publicUrl: () => string
  /** The address of the console; undefined if it is off. */
  readonly consoleUrl: (() => string) | undefined
}

/** What features are created from, in a server and in a command without one. */
export type FeatureParts = Pick<
  Infrastructure,
  'config' | 'database' | 'clock' | 'random' | 'ids' | 'keyring' | 'verification' | 'encoding'
> & {
  readonly stores: Stores
}

/** Evaluates texts and rules. */
export type EvaluationParts = {
  readonly simulate: Simulate
  readonly findEvidence: FindEvidence
  readonly explain: Explain
  readonly inspectRule: InspectRule
  readonly decodeBody: DecodeBody
}

/** What only a running server has. */
export type RunningServerParts = {
  readonly evaluation: EvaluationParts
  readonly installation: InstallationParts
  readonly preflight: Preflight
  readonly readHeld: ReadHeld
  readonly modelSetOf: ModelSetOf
  readonly testSink: SinkTest
  /** Requests that this node is answering. */
  readonly inFlight: { readonly count: () => number }
  readonly readiness: readonly ReadinessCheck[]
}
