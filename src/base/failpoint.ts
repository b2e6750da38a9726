/** The places where a crash would hurt most, in the order in which a request comes by. */
export const failpoints = [
  'slice opened', // in the ledger, and not yet in the counters
  'slice raised', // likewise
  'admitted', // and the upstream not yet asked
  'answered', // and the charge not yet in the ledger
  'recorded', // in the ledger, and not yet in the counters
  'spooled', // on this disk, and not yet in the ledger
  'given up', // an orphan in the ledger, and not yet in the counters
  'slice retired', // and its rest not yet given back
] as const

export type FailpointName = (typeof failpoints)[number]

/** Called there. Tests crash in it; for everybody else nothing happens. */
export type Failpoint = (name: FailpointName) => void | Promise<void>

export const noFailpoint: Failpoint = () => {}
