import type { ContentLevel } from '../event/content.ts'
import { gatehouseField, type AuditDocument, type ChainedDocument } from '../event/document.ts'
import type { Configuration } from './configuration.ts'
import type { EventFamily } from '../event/kinds.ts'
import type { AuditDecision } from '../event/verdict.ts'

/**
 * The port to a destination of audit events. A sink knows one destination's protocol and nothing of durability:
 * the log is the queue, and the sender moves a cursor over it by what the outcomes say.
 */
export type Sink = {
  /** How much the sender should gather before it calls. */
  readonly goal: BatchGoal
  /**
   * Offers events of one organization, in order of sequence, and answers one outcome for each, in the same order.
   * Splits the batch where the destination's limits ask for it, and stops at the first part that ends in `retry` or
   * `pause`: what lies behind was not tried and shares that outcome. An event may arrive twice, with the same
   * `metadata.uid`. Throws only when the signal aborts, or on a bug of ours.
   */
  deliver(batch: readonly ChainedDocument[], signal: AbortSignal): Promise<readonly DeliveryOutcome[]>
}

export type BatchGoal = { readonly events: number; readonly bytes: number; readonly waitMs: number }

/** What became of one event. `reason` is for the sink's owner and holds no text of the destination's own. */
export type DeliveryOutcome = Delivered | Retry | Reject | Pause

export const deliveryOutcomes = ['delivered', 'retry', 'reject', 'pause'] as const satisfies DeliveryOutcome['kind'][]

export type Delivered = { readonly kind: 'delivered' }

/** Try again later, for ever. */
export type Retry = {
  readonly kind: 'retry'
  readonly reason: string
  /** The destination's wish; wins over our own backoff. */
  readonly retryAfterMs?: number | undefined
  /** For the operator's log alone: it may tell of networks that the owner must not see. */
  readonly cause?: unknown
}

/** The destination will never take this event: dead letter, and the line moves on. */
export type Reject = { readonly kind: 'reject'; readonly reason: string }

/** Nothing will go through until somebody changes the configuration. Nothing is dropped meanwhile. */
export type Pause = { readonly kind: 'pause'; readonly state: 'auth_error' | 'config_error'; readonly reason: string }

/** The fields that every kind of sink has in its configuration. */
export type ExportChoice = {
  readonly content?: ContentLevel | undefined
  readonly filter?: ExportFilter | undefined
}

export type ExportFilter = {
  readonly event_types?: readonly EventFamily[] | undefined
  readonly decisions?: readonly AuditDecision[] | undefined
}

/** A sink that is ready to be called, with what its owner chose to have exported. */
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

/** A kind of sink, as the interface that creates sinks needs to know it. */
export type SinkKind<Parts> = {
  readonly type: SinkType
  /** JSON Schema of its configuration: validates, documents, draws the form. */
  readonly schema: object
  /** Dotted paths of the fields that are encrypted at rest and masked when read. */
  readonly secretFields: readonly string[]
  /** Dotted paths of the fields that say where events go: changing one asks for the secrets again. */
  readonly destinationFields: readonly string[]
  /** The configuration with the fields that we make ourselves; `before` is what they were. */
  completed?(config: Configuration, before: Configuration, makeId: () => string): Configuration
  /** Everything that is wrong with a configuration; empty where it can be opened. */
  problemsOf(config: unknown): readonly ConfigProblem[]
  /** Throws where `problemsOf` finds something. */
  open(config: unknown, parts: Parts): Sink
}

/** `path` is dotted, as the caller wrote it: `auth.api_key`. */
export type ConfigProblem = { readonly path: string; readonly message: string }

/** Whether a sink wants this event. Checkpoints go everywhere: they are what makes the rest checkable. */
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
