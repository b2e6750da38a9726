import type { ClaimedSink } from './delivery-store.ts'

/** The file of a day that a sink has. */
export type WrittenCostFile = {
  /** The start of the day in UTC, Unix seconds. */
  readonly day: number
  /** Of the sums in the file. */
  readonly digest: string
  readonly rowCount: number
  /** False if the tags were left out, because the day has too many rows with them. */
  readonly hasTags: boolean
}

/** Which files sinks of costs have. The leases are those of the senders of events (`DeliveryStore`). */
export type CostFileStore = {
  /** Ids of sinks of costs that wait for nothing and are not leased. */
  due(limit: number): Promise<readonly string[]>
  /** Digests of the files by their day. */
  digests(sinkId: string): Promise<ReadonlyMap<number, string>>
  /** Stores that the file was written. False if the lease is lost or the sink was changed meanwhile. */
  record(sink: ClaimedSink, file: WrittenCostFile): Promise<boolean>
}
