import type { ClaimedSink, DeliveryStore } from '../../domain/audit/export/delivery-store.ts'
import { DamagedEvent, type LoggedEvent } from '../../domain/audit/log.ts'
import { passesFilter, type OpenedSink } from '../../domain/audit/export/sink.ts'

export type GatheredBatch = {
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
export function readPage({ content }: OpenedSink['choice'], maxEvents: number) {
  const withTexts = content === 'redacted' || content === 'full'
  return { withTexts, limit: withTexts ? pageSizeWithTexts : maxEvents }
}

/** The next batch: the planned one, or as many events as the sink's goal. Rejects if the next event is damaged. */
export async function gatherBatch(
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
