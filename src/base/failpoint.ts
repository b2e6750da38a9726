/** The points at which a crash is most dangerous, in the order in which a request passes them. */
export const failpoints = [
  'slice opened', // in the ledger, not yet in the counters
  'slice topped up', // in the ledger, not yet in the counters
  'admitted', // the upstream is not called yet
  'answered', // the charge is not in the ledger yet
  'recorded', // the charge is in the ledger, not yet in the counters
  'spooled', // the charge is on this disk, not yet in the ledger
  'given up', // the orphaned request is ended in the ledger, not yet in the counters
  'slice retired', // what is left of the slice is not returned yet
] as const

export type FailpointName = (typeof failpoints)[number]

/** Called at each point. Tests crash the process in it; outside of tests it does nothing. */
export type Failpoint = (name: FailpointName) => void | Promise<void>

export const noFailpoint: Failpoint = () => {}
