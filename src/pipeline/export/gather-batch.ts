import type { ClaimedSink, DeliveryStore } from '../../domain/audit/export/delivery-store.ts'
import { DamagedEvent, type LoggedEvent } from '../../domain/audit/log.ts'
import { passesFilter, type OpenedSink } from '../../domain/audit/export/sink.ts'

export type GatheredBatch = {
  /** All events of the range, those that the filter leaves out included. */
  readonly events: readonly LoggedEvent[]
  readonly last: number
  /** It need not grow: the goal is reached, or it was planned before. */
  readonly isFull: boolean
}

const pageSize = 250
/** One text may be as long as hundreds of events: so many characters of them are held at once. */
const maxContentSize = 8_000_000
const pageSizeWithTexts = 20
/** A filter may leave out nearly all there is: the cursor must still move. */
const maxScanned = 5_000

/** How much of the log is read at a time for a sink. */
export function readPage({ content }: OpenedSink['choice'], mostEvents: number) {
  const withTexts = content === 'redacted' || content === 'full'
  return { withTexts, limit: withTexts ? pageSizeWithTexts : mostEvents }
}

/** The next batch: the one that was planned, or as much as the sink's goal asks for. Rejects where a damaged event comes next. */
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
