import { dayMs, minuteMs, type Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Configuration } from '../audit/export/configuration.ts'
import type { AlertMessage } from './alert.ts'
import type { ChannelKindName, SendResult } from './channel.ts'

/** A message that only this node may send until its lease ends. */
export type ClaimedMessage = {
  readonly deliveryId: string
  readonly attempts: number
  readonly createdAtMs: number
  readonly message: Omit<AlertMessage, 'url'>
  readonly channel: {
    readonly id: string
    readonly kind: ChannelKindName
    /** The configuration with decrypted secrets. Throws if they cannot be decrypted. */
    readonly openConfig: () => Configuration
  }
}

export type DueMessage = { readonly id: string; readonly organizationId: string }

/** What is stored after an attempt. */
export type SendAttempt =
  | { readonly state: 'sent'; readonly atMs: number }
  | { readonly state: 'given_up'; readonly atMs: number; readonly error: string }
  | { readonly state: 'waiting'; readonly atMs: number; readonly error: string; readonly nextAttemptAtMs: number }

/** The outbox. It is in the database, so a killed node loses nothing. */
export type AlertOutbox = {
  /** Messages that wait for no retry and are not leased. A message comes after the earlier ones of its alert and channel. */
  due(kinds: readonly ChannelKindName[], limit: number): Promise<readonly DueMessage[]>
  /** Undefined if another node has it, or its channel was paused or deleted. */
  claim(deliveryId: string): Promise<ClaimedMessage | undefined>
  settle(claimed: ClaimedMessage, attempt: SendAttempt): Promise<void>
}

const firstWaitMs = 5_000
const longestWaitMs = 15 * minuteMs
/** A message that nobody could be told for this long is given up. */
export const giveUpAfterMs = dayMs

/** Full jitter between half of the ceiling and the ceiling, which doubles from 5 seconds to 15 minutes. */
function attemptOf(
  { attempts, createdAtMs }: Pick<ClaimedMessage, 'attempts' | 'createdAtMs'>,
  result: SendResult,
  { nowMs, random }: { readonly nowMs: number; readonly random: Random },
): SendAttempt {
  if (result.kind === 'sent') return { state: 'sent', atMs: nowMs }
  const error = result.answer
  if (nowMs - createdAtMs >= giveUpAfterMs) return { state: 'given_up', atMs: nowMs, error }
  const ceilingMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempts, 20))
  const waitMs = Math.max(ceilingMs * (0.5 + random.fraction() / 2), Math.min(result.retryAfterMs ?? 0, longestWaitMs))
  return { state: 'waiting', atMs: nowMs, error, nextAttemptAtMs: nowMs + Math.ceil(waitMs) }
}

export type AlertSenderParts = {
  readonly outbox: AlertOutbox
  readonly send: (claimed: ClaimedMessage, signal: AbortSignal) => Promise<SendResult>
  readonly clock: Clock
  readonly random: Random
  readonly onAttempt: (claimed: ClaimedMessage, attempt: SendAttempt, result: SendResult) => void
  readonly onError: (error: unknown, deliveryId: string) => void
}

export type AlertSenders = AsyncDisposable & {
  /** Starts to send what is due, and does not wait for it. A job calls it each second. */
  startDue(): Promise<void>
  /** The same, and resolves when all of it has ended. */
  sendDue(): Promise<void>
}

/** Mail has places of its own, so that a mail server that hangs delays no webhook, and the other way round. */
const groups: readonly { readonly kinds: readonly ChannelKindName[]; readonly most: number }[] = [
  { kinds: ['email'], most: 8 },
  { kinds: ['webhook', 'slack'], most: 16 },
]
/** Messages of one organization at a time in each group, so that its dead endpoints leave places for others. */
const mostOfOrganization = 4
const dueAtOnce = 100

type Running = DueMessage & { readonly group: number; readonly done: Promise<void> }

/** Sends the messages of the outbox, several at a time. */
export function createAlertSenders(parts: AlertSenderParts): AlertSenders {
  const { outbox, clock, random, send, onAttempt, onError } = parts
  const running = new Map<string, Running>()
  const stop = new AbortController()

  const startDue = async (): Promise<void> => {
    for (const [group, { kinds, most }] of groups.entries()) {
      const inGroup = (): Running[] => [...running.values()].filter((each) => each.group === group)
      if (inGroup().length >= most) continue
      for (const due of await outbox.due(kinds, dueAtOnce)) {
        if (stop.signal.aborted || inGroup().length >= most) break
        const ofOrganization = inGroup().filter(({ organizationId }) => organizationId === due.organizationId)
        if (running.has(due.id) || ofOrganization.length >= mostOfOrganization) continue
        running.set(due.id, { ...due, group, done: deliver(due.id).finally(() => running.delete(due.id)) })
      }
    }
  }

  async function deliver(id: string): Promise<void> {
    try {
      const claimed = await outbox.claim(id)
      if (!claimed) return
      const result = await send(claimed, stop.signal)
      const attempt = attemptOf(claimed, result, { nowMs: clock.nowMs(), random })
      await outbox.settle(claimed, attempt)
      onAttempt(claimed, attempt, result)
    } catch (error) {
      if (!stop.signal.aborted) onError(error, id)
    }
  }

  const ended = async (): Promise<void> => void (await Promise.all([...running.values()].map(({ done }) => done)))
  return {
    startDue,
    async sendDue() {
      await startDue()
      await ended()
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the service is stopping'))
      await ended()
    },
  }
}
