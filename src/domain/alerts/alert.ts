import type { Page, Paged } from '../identity/store.ts'
import type { RuleKind, ThresholdUnit } from './rule.ts'

/** The page of the console that shows what an alert is about. */
export const alertPages = [
  'alerts',
  'requests',
  'limits',
  'costs',
  'sinks',
  'policies',
  'gateway',
  'models',
  'projects',
] as const
export type AlertLink = {
  readonly page: (typeof alertPages)[number]
  /** The object, if the page has one for each. */
  readonly id?: string
  readonly search?: Readonly<Record<string, string | number>>
}

/** What is sent when something begins. The text has figures and names, never texts of requests. */
export type AlertContent = {
  readonly kind: RuleKind
  /** What it is about: the id of a key or policy, the name of an upstream. Empty for the organization. */
  readonly subject: string
  /** One sentence without a full stop. */
  readonly title: string
  readonly text: string
  readonly figure: number | null
  readonly threshold: number | null
  readonly unit: ThresholdUnit | null
  readonly link: AlertLink
}

/** One episode: from its begin until it is over. */
export type Alert = AlertContent & {
  readonly id: string
  readonly organizationId: string
  /** Null for an alert that no rule sent, and after its rule was deleted. */
  readonly ruleId: string | null
  readonly ruleName: string
  readonly startedAtMs: number
  /** Null while it lasts. */
  readonly endedAtMs: number | null
}

/** `test`: nothing happened; somebody tries the channel. */
export const alertEvents = ['fired', 'resolved', 'test'] as const
export type AlertEvent = (typeof alertEvents)[number]

/** What a channel sends. */
export type AlertMessage = Alert & {
  /** Repeated messages have the same id, so that the receiver can drop all but one. */
  readonly messageId: string
  readonly event: AlertEvent
  readonly organizationName: string
  /** The address of the console page; null if the console is off. */
  readonly url: string | null
}

export const deliveryStates = ['waiting', 'sent', 'given_up'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** What became of one message of an alert. */
export type AlertDelivery = {
  readonly id: string
  readonly channelId: string
  readonly event: Exclude<AlertEvent, 'test'>
  readonly state: DeliveryState
  readonly attempts: number
  readonly nextAttemptAtMs: number | null
  readonly lastError: string | null
  readonly endedAtMs: number | null
}

export type WatchedAlert = Alert & { readonly deliveries: readonly AlertDelivery[] }

export type AlertPage = Page & { readonly isFiring?: boolean; readonly ruleId?: string }

/** Alerts and their outbox, in the given transaction. */
export type AlertStore = {
  insert(alert: Alert): Promise<void>
  /** False if it was over before. */
  end(alert: Pick<Alert, 'organizationId' | 'id'>, atMs: number): Promise<boolean>
  find(organizationId: string, id: string): Promise<Alert | undefined>
  list(organizationId: string, page: AlertPage): Promise<Paged<WatchedAlert>>
  /** Puts a message into the outbox of each channel that exists and is not paused. Without a list: of every one. */
  send(alert: Alert, event: AlertDelivery['event'], channelIds?: readonly string[]): Promise<void>
}
