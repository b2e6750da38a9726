import type { ConfigProblem, SinkAddress } from '../audit/export/sink.ts'
import type { Configuration, Secrets } from '../audit/export/configuration.ts'
import type { Page, Paged } from '../identity/store.ts'
import type { AlertMessage } from './alert.ts'

export const channelKinds = ['webhook', 'slack', 'email'] as const
export type ChannelKindName = (typeof channelKinds)[number]

/** Where alerts are sent. `config` has masks in place of its secrets. */
export type AlertChannel = {
  readonly id: string
  readonly organizationId: string
  readonly kind: ChannelKindName
  readonly name: string
  /** Nothing is sent. What is begun to be sent waits. */
  readonly isPaused: boolean
  readonly config: Configuration
  /** Incremented by every change. */
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** What became of the last messages. */
export type ChannelHealth = {
  readonly lastSentAtMs: number | null
  readonly lastErrorAtMs: number | null
  readonly lastError: string | null
  /** Messages that are not sent yet. */
  readonly waiting: number
}

export type WatchedChannel = AlertChannel & { readonly health: ChannelHealth }

/** `answer` is shown to the owner of the channel. `cause` is for the operator's log only: it may reveal internal networks. */
export type SendResult =
  | { readonly kind: 'sent'; readonly answer: string }
  | {
      readonly kind: 'failed'
      readonly answer: string
      readonly retryAfterMs?: number | undefined
      readonly cause?: unknown
    }

/** Sends one message. Throws only because of a bug, or if the signal aborts. */
export type SendMessage = (message: AlertMessage, signal: AbortSignal) => Promise<SendResult>

/** A kind of channel: its schema, its validation and how a message is sent. */
export type ChannelKind = {
  readonly kind: ChannelKindName
  /** JSON Schema of its configuration. */
  readonly schema: object
  readonly secretFields: readonly string[]
  /** Changing one of them requires the secrets again. */
  readonly destinationFields: readonly string[]
  addressesIn(config: Configuration): readonly SinkAddress[]
  problemsOf(config: unknown): readonly ConfigProblem[]
}

/** The store of channels. Every lookup takes the organization first, for tenant isolation. */
export type AlertChannelStore = {
  insert(channel: AlertChannel, secrets: Secrets): Promise<void>
  /** False if it was changed meanwhile. Waiting messages are sent at once. */
  replace(channel: AlertChannel, secrets: Secrets): Promise<boolean>
  /** With its waiting messages. */
  remove(channel: AlertChannel): Promise<boolean>
  find(organizationId: string, id: string): Promise<WatchedChannel | undefined>
  list(organizationId: string, page: Page): Promise<Paged<WatchedChannel>>
  count(organizationId: string): Promise<number>
  /** Those of the ids that are channels of the organization. */
  existing(organizationId: string, ids: readonly string[]): Promise<readonly string[]>
  secretsOf(channel: AlertChannel): Promise<Secrets>
}
