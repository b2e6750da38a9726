import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { withContent } from '../../domain/audit/event/content.ts'
import {
  afterDamage,
  afterDraining,
  afterFailure,
  afterGap,
  afterWatermark,
  isDue,
  pauseEvent,
  applyOutcome,
  type DeliveryResult,
  type Watermarks,
} from '../../domain/audit/export/delivery.ts'
import type { ClaimedSink, DeliveryStore } from '../../domain/audit/export/delivery-store.ts'
import { DamagedEvent, type LoggedEvent } from '../../domain/audit/log.ts'
import { passesFilter, type OpenedSink, type DeliveryOutcome } from '../../domain/audit/export/sink.ts'
import { gatherBatch, readPage } from './gather-batch.ts'

export type DeliverParts = {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly random: Random
  readonly watermarks: Watermarks
  /** Told of each event that was offered. */
  readonly onOutcome: (outcome: DeliveryOutcome, sink: ClaimedSink) => void
  readonly onError: (error: unknown, sinkId?: string) => void
}

export type Delivery = { readonly claimed: ClaimedSink; readonly sink: OpenedSink; readonly signal: AbortSignal }

/** How many dead letters are sent again at a time. */
const maxReplays = 100

/**
 * Sends to one sink until it has all there is, or must wait. What is sent is planned first and settled afterwards, each
 * durably: a process that dies in between sends the same batch again.
 */
export async function deliverAll(parts: DeliverParts, delivery: Delivery): Promise<void> {
  const { store, clock } = parts
  let claimed: ClaimedSink | undefined = await replayDeadLetters(parts, delivery)
  claimed = claimed && (await settleIf(store, claimed, afterGap(claimed.cursor, claimed.firstSequence)))
  while (claimed && isDue(claimed.cursor, clock.nowMs())) {
    const batch = await gatherBatch(store, claimed, delivery.sink).catch(asDamage)
    if (batch instanceof DamagedEvent) {
      claimed = await settleIf(store, claimed, afterDamage(claimed.cursor, batch.sequence))
      continue
    }
    const [oldest] = batch.events
    if (!oldest) return void (await settleIf(store, claimed, afterDraining(claimed.cursor)))
    const { logged_time: loggedMs } = oldest.document.metadata
    const ageMs = clock.nowMs() - loggedMs // below zero where the clock was set back
    if (!batch.isFull && claimed.cursor.state === 'healthy' && ageMs >= 0 && ageMs < delivery.sink.goal.waitMs) {
      return store.postpone(claimed, loggedMs + delivery.sink.goal.waitMs)
    }
    claimed = await raiseAlarm(parts, claimed, oldest)
    claimed = claimed && (await sendBatch(parts, { ...delivery, claimed }, batch))
  }
}

function asDamage(error: unknown): DamagedEvent {
  if (error instanceof DamagedEvent) return error
  throw error
}

type Batch = { readonly events: readonly LoggedEvent[]; readonly last: number }

/** Plans, offers and settles one batch. Undefined where the sink is no longer ours to send to. */
async function sendBatch(parts: DeliverParts, delivery: Delivery, batch: Batch): Promise<ClaimedSink | undefined> {
  const { store, clock, random } = parts
  const { claimed, sink } = delivery
  const wanted = batch.events.filter(({ document }) => passesFilter(document, sink.choice.filter))
  const isPlanned = wanted.length === 0 || claimed.cursor.planLast === batch.last
  if (!isPlanned && !(await store.plan(claimed, batch.last))) return undefined
  const outcomes = await offer(parts, delivery, wanted)
  const offered = wanted.map(({ sequence, id, document }, at) => ({
    sequence,
    id,
    code: document.metadata.event_code,
    outcome: outcomes[at] ?? notAnswered,
  }))
  const moment = { nowMs: clock.nowMs(), random }
  return settleIf(store, claimed, applyOutcome(claimed.cursor, { offered, last: batch.last }, moment))
}

const notAnswered: DeliveryOutcome = { kind: 'retry', reason: 'The sink gave no answer for this event.' }

/** What breaks on our side is told like what breaks on the other: a sink that stands still must not look healthy. */
export const brokenOff: DeliveryOutcome = {
  kind: 'retry',
  reason: 'This gateway could not send; its own log tells why.',
}

async function offer(
  { onOutcome, onError }: DeliverParts,
  { claimed, sink, signal }: Delivery,
  events: readonly LoggedEvent[],
): Promise<readonly DeliveryOutcome[]> {
  if (events.length === 0) return []
  const level = sink.choice.content ?? 'none'
  const documents = events.map(({ document, content }) => withContent(document, content, level))
  const outcomes = await sink.deliver(documents, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    onError(error, claimed.id)
    return documents.map(() => brokenOff)
  })
  for (const outcome of outcomes) onOutcome(outcome, claimed)
  return outcomes
}

/** The sink as it is after a settlement. Undefined where it could not be written. */
async function settleIf(
  store: DeliveryStore,
  claimed: ClaimedSink,
  settlement: DeliveryResult | undefined,
): Promise<ClaimedSink | undefined> {
  if (!settlement) return claimed
  return (await store.settle(claimed, settlement)) ? { ...claimed, cursor: settlement.cursor } : undefined
}

function raiseAlarm(
  { store, clock, watermarks }: DeliverParts,
  claimed: ClaimedSink,
  { document }: LoggedEvent,
): Promise<ClaimedSink | undefined> {
  const events = claimed.headSequence - claimed.cursor.sequence
  const backlog = { events, oldestAtMs: document.metadata.logged_time }
  return settleIf(store, claimed, afterWatermark(claimed.cursor, backlog, { ...watermarks, nowMs: clock.nowMs() }))
}

/** Out of their line, which they left long ago. Order means nothing to them any more. */
async function replayDeadLetters(parts: DeliverParts, delivery: Delivery): Promise<ClaimedSink | undefined> {
  const { store, clock, random } = parts
  const { claimed } = delivery
  const events = await store.replays(claimed.id, readPage(delivery.sink.choice, maxReplays)).catch(asDamage)
  if (events instanceof DamagedEvent) {
    const { sequence, message: reason } = events
    await store.settleReplays(claimed, { delivered: [], rejected: [{ sequence, reason }] })
    return claimed
  }
  if (events.length === 0) return claimed
  const outcomes = await offer(parts, delivery, events)
  const of = (kind: DeliveryOutcome['kind']) => events.filter((_, at) => outcomes[at]?.kind === kind)
  const rejected = events.flatMap(({ sequence }, at) => {
    const outcome = outcomes[at]
    return outcome?.kind === 'reject' ? [{ sequence, reason: outcome.reason }] : []
  })
  await store.settleReplays(claimed, { delivered: of('delivered').map(({ sequence }) => sequence), rejected })
  const failure = outcomes.find(({ kind }) => kind === 'retry' || kind === 'pause')
  if (!failure) return claimed
  const cursor = afterFailure(claimed.cursor, failure, { nowMs: clock.nowMs(), random })
  return settleIf(store, claimed, { cursor, rejected: [], news: pauseEvent(claimed.cursor, cursor) })
}
