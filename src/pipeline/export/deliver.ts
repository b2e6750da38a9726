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

export type DeliverParts = {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly random: Random
  readonly watermarks: Watermarks
  /** Called for each event that was sent. */
  readonly onOutcome: (outcome: DeliveryOutcome, sink: ClaimedSink) => void
  readonly onError: (error: unknown, sinkId?: string) => void
}

export type Delivery = { readonly claimed: ClaimedSink; readonly sink: OpenedSink; readonly signal: AbortSignal }

/** How many dead letters are replayed at a time. */
const maxReplays = 100

/**
 * Sends to one sink until it has every event, or must wait. The end of each batch is stored before it is sent, and the result
 * afterwards, so that a process which is killed in between sends the same batch again.
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
    const ageMs = clock.nowMs() - loggedMs // negative if the clock was set back
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

/** Plans, sends and settles one batch. Undefined if this node lost the lease. */
async function sendBatch(parts: DeliverParts, delivery: Delivery, batch: Batch): Promise<ClaimedSink | undefined> {
  const { store, clock, random } = parts
  const { claimed, sink } = delivery
  const wanted = batch.events.filter(({ document }) => passesFilter(document, sink.choice.filter))
  const isPlanned = wanted.length === 0 || claimed.cursor.planLast === batch.last
  if (!isPlanned && !(await store.plan(claimed, batch.last))) return undefined
  const outcomes = await send(parts, delivery, wanted)
  const offered = wanted.map(({ sequence, id, document }, at) => ({
    sequence,
    id,
    code: document.metadata.event_code,
    outcome: outcomes[at] ?? noOutcome,
  }))
  const moment = { nowMs: clock.nowMs(), random }
  return settleIf(store, claimed, applyOutcome(claimed.cursor, { offered, last: batch.last }, moment))
}

const noOutcome: DeliveryOutcome = { kind: 'retry', reason: 'The sink returned no outcome for this event.' }

/** An error of the gateway itself also counts as a failed attempt, because a sink that is stuck must not look healthy. */
export const gatewayError: DeliveryOutcome = {
  kind: 'retry',
  reason: 'The gateway could not send; see its own log.',
}

async function send(
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
    return documents.map(() => gatewayError)
  })
  for (const outcome of outcomes) onOutcome(outcome, claimed)
  return outcomes
}

/** Stores a result, if there is one, and returns the sink after it. Undefined if the result could not be stored. */
async function settleIf(
  store: DeliveryStore,
  claimed: ClaimedSink,
  result: DeliveryResult | undefined,
): Promise<ClaimedSink | undefined> {
  if (!result) return claimed
  return (await store.settle(claimed, result)) ? { ...claimed, cursor: result.cursor } : undefined
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

/** Replays dead letters before the queue; they have lost their order. */
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
  const outcomes = await send(parts, delivery, events)
  const delivered = events.filter((_, at) => outcomes[at]?.kind === 'delivered').map(({ sequence }) => sequence)
  const rejected = events.flatMap(({ sequence }, at) => {
    const outcome = outcomes[at]
    return outcome?.kind === 'reject' ? [{ sequence, reason: outcome.reason }] : []
  })
  await store.settleReplays(claimed, { delivered, rejected })
  const failure = outcomes.find(({ kind }) => kind === 'retry' || kind === 'pause')
  if (!failure) return claimed
  const cursor = afterFailure(claimed.cursor, failure, { nowMs: clock.nowMs(), random })
  return settleIf(store, claimed, { cursor, rejected: [], sinkEvents: pauseEvent(claimed.cursor, cursor) })
}

type GatheredBatch = {
  /** All events of the range, including those that the filter excludes. */
  readonly events: readonly LoggedEvent[]
  readonly last: number
  /** The batch must not grow: its goal is reached, or its end was planned before. */
  readonly isFull: boolean
}

const pageSize = 250
/** Characters of texts in one batch, because one text may be as long as hundreds of events. */
const maxContentSize = 8_000_000
const pageSizeWithTexts = 20
/** Bounds the events read for one batch, so that the cursor moves even if the filter excludes nearly all. */
const maxScanned = 5_000

/** The page size for reading the log. */
function readPage({ content }: OpenedSink['choice'], maxEvents: number) {
  const withTexts = content === 'redacted' || content === 'full'
  return { withTexts, limit: withTexts ? pageSizeWithTexts : maxEvents }
}

/** The next batch: the planned one, or as many events as the sink's goal. Rejects if the next event is damaged. */
async function gatherBatch(
  store: DeliveryStore,
  { organizationId, cursor }: ClaimedSink,
  { goal, choice }: OpenedSink,
): Promise<GatheredBatch> {
  const events: LoggedEvent[] = []
  let size = 0
  let contentSize = 0
  let wanted = 0
  const { limit, withTexts } = readPage(choice, pageSize)
  const isGoalReached = (): boolean =>
    size >= goal.bytes || contentSize >= maxContentSize || wanted >= goal.events || events.length >= maxScanned
  for (let after = cursor.sequence; ;) {
    const last = cursor.planLast ?? undefined
    const page = await store.events(organizationId, { after, last, limit, withTexts }).catch((error: unknown) => {
      if (error instanceof DamagedEvent && events.length > 0) return []
      throw error
    })
    for (const event of page) {
      if (last === undefined && isGoalReached()) break
      events.push(event)
      contentSize += event.contentSize
      if (!passesFilter(event.document, choice.filter)) continue
      wanted += 1
      size += event.size
    }
    after = events.at(-1)?.sequence ?? after
    const isEnd = page.length < limit
    if (isEnd || (last === undefined && isGoalReached())) {
      return { events, last: after, isFull: last !== undefined || isGoalReached() }
    }
  }
}
