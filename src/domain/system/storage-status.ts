/** The disk of the data folder, the database, and how much the database grows. */
export type StorageStatus = {
  readonly engine: 'embedded' | 'postgresql'
  readonly databaseBytes: number
  readonly diskBytes: number
  readonly freeBytes: number
  /** Requests of the audit log in the last seven days. */
  readonly requestsLastWeek: number
  /** By how much the database grows in the next seven days if requests continue as in the last seven. */
  readonly growthBytes: number
}

export type StoredCounts = {
  /** Audit events that are stored now, and those with the removed ones. */
  readonly events: number
  readonly eventsEver: number
  readonly requestsLastWeek: number
  /** Requests whose events the retention period removes in the next seven days. */
  readonly requestsExpiring: number
}

/** What a request takes in the ledger, with indexes, as `bench/growth` fills it. The retention period of events does not remove it. */
const ledgerBytes = 660

/** The same of its event. The ledger may have been trimmed, so what it seems to leave for the events may be too little. */
const leastEventBytes = 1_500

export function weeklyGrowth(databaseBytes: number, counts: StoredCounts): number {
  const { events, eventsEver, requestsLastWeek, requestsExpiring } = counts
  const otherBytes = databaseBytes - ledgerBytes * eventsEver
  const eventBytes = Math.max(leastEventBytes, events === 0 ? 0 : otherBytes / events)
  const growth = requestsLastWeek * (eventBytes + ledgerBytes) - requestsExpiring * eventBytes
  return Math.max(0, Math.round(growth))
}
