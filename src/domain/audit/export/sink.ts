import type { ContentLevel } from '../event/content.ts'
import { gatehouseField, type AuditDocument, type ChainedDocument } from '../event/document.ts'
import type { Configuration } from './configuration.ts'
import type { EventFamily } from '../event/kinds.ts'
import type { AuditDecision } from '../event/verdict.ts'

/**
 * The port to a destination of audit events. A sink implements one destination's protocol and no durability: the audit log
 * is the queue, and the sender moves a cursor over it according to the outcomes.
 */
export type Sink = {
  /** How much the sender gathers before it calls `deliver`. */
  readonly goal: BatchGoal
  /**
   * Sends events of one organization, ordered by sequence, and returns one outcome for each, in the same order. Splits the
   * batch if the destination's limits require it, and stops at the first part that ends in `retry` or `pause`: later events
   * were not sent and get the same outcome. An event may arrive twice, with the same `metadata.uid`. Throws only if the
   * signal aborts, or because of a bug.
   */
  deliver(batch: readonly ChainedDocument[], signal: AbortSignal): Promise<readonly DeliveryOutcome[]>
  /** Writes a file in place of one with its name. Only kinds of sinks that can send costs have it. */
  writeFile?(file: SinkFile, signal: AbortSignal): Promise<DeliveryOutcome>
}

/** What a sink sends: the events of the audit log, or a file of costs for each day. */
export const sinkSends = ['events', 'costs'] as const
export type SinkSends = (typeof sinkSends)[number]

/** What a sink with this configuration sends. Kinds without the field send events. */
export const sendsOf = (config: Configuration): SinkSends => (config['sends'] === 'costs' ? 'costs' : 'events')

/** A gzipped file of CSV. */
export type SinkFile = {
  /** The file's path below the place that the sink writes to. */
  readonly name: string
  readonly body: Uint8Array
}

export type BatchGoal = { readonly events: number; readonly bytes: number; readonly waitMs: number }

/** The outcome of one event. `reason` is shown to the sink's owner and contains no text from the destination. */
export type DeliveryOutcome = Delivered | Retry | Reject | Pause

export const deliveryOutcomes = ['delivered', 'retry', 'reject', 'pause'] as const satisfies DeliveryOutcome['kind'][]

export type Delivered = { readonly kind: 'delivered' }

/** Retry later, without a limit. */
export type Retry = {
  readonly kind: 'retry'
  readonly reason: string
  /** The delay that the destination requested; takes precedence over the backoff. */
  readonly retryAfterMs?: number | undefined
  /** For the operator's log only: it may reveal internal networks that the sink's owner must not see. */
  readonly cause?: unknown
}

/** The destination will never accept this event: it becomes a dead letter, and delivery continues. */
export type Reject = { readonly kind: 'reject'; readonly reason: string }

/** Delivery fails until somebody changes the configuration. No event is dropped meanwhile. */
export type Pause = { readonly kind: 'pause'; readonly state: 'auth_error' | 'config_error'; readonly reason: string }

/** The configuration fields that every kind of sink has. */
export type ExportChoice = {
  readonly content?: ContentLevel | undefined
  readonly filter?: ExportFilter | undefined
}

export type ExportFilter = {
  readonly event_types?: readonly EventFamily[] | undefined
  readonly decisions?: readonly AuditDecision[] | undefined
}

/** A sink that is ready to be called, with its owner's choice of what is exported. */
export type OpenedSink = Sink & { readonly choice: ExportChoice }

/** The types of sinks. Each has an adapter in `src/adapters/sinks`. */
export const sinkTypes = [
  'splunk_hec',
  'datadog_logs',
  'elastic',
  's3',
  'azure_monitor',
  'webhook',
  'otlp_logs',
] as const
export type SinkType = (typeof sinkTypes)[number]

/** A kind of sink: its schema, its validation and how it is opened. */
export type SinkKind<Parts> = {
  readonly type: SinkType
  /** JSON Schema of its configuration, for validation, documentation and forms. */
  readonly schema: object
  /** Dotted paths of the fields that are encrypted at rest and masked when read. */
  readonly secretFields: readonly string[]
  /** Dotted paths of the fields that define where events go: changing one requires the secrets again. */
  readonly destinationFields: readonly string[]
  /** The addresses in a configuration that sinks of this kind connect to. Ignores a field that has no valid address. */
  addressesIn(config: Configuration): readonly SinkAddress[]
  /** The configuration with generated fields; `before` has their previous values. */
  completed?(config: Configuration, before: Configuration, makeId: () => string): Configuration
  /** Every problem of a configuration; empty if it can be opened. */
  problemsOf(config: unknown): readonly ConfigProblem[]
  /** Throws if `problemsOf` returns a problem. */
  open(config: unknown, parts: Parts): Sink
}

/** An address that a tenant chose. `path` is the dotted path of its field. */
export type SinkAddress = { readonly path: string; readonly url: URL }

/**
 * Finds the reason why a sink must not connect to an address, as a message for its owner. Undefined if it may, and for a
 * name that cannot be resolved now. Calls the network, so it must not run inside a transaction.
 */
export type FindSinkAddressProblem = (url: URL) => Promise<string | undefined>

/** `path` is dotted, as the caller wrote it: `auth.api_key`. */
export type ConfigProblem = { readonly path: string; readonly message: string }

/** Whether the filter lets this event pass. Checkpoints always pass, because they make the other events verifiable. */
export function passesFilter(document: AuditDocument, filter: ExportFilter | undefined): boolean {
  const code = document.metadata.event_code
  if (!filter || code === 'audit.checkpoint') return true
  const family = code.slice(0, code.indexOf('.'))
  const decision = gatehouseField(document, 'decision')
  const { event_types: families, decisions } = filter
  return (
    (!families || families.some((wanted) => wanted === family)) &&
    (!decisions || decision === undefined || decisions.some((wanted) => wanted === decision))
  )
}
