import { hourMs, minuteMs } from '../base/clock.ts'

/** One kind of work that runs by the clock. The function that does the work is given to `Scheduler.start`. */
export type JobDefinition = {
  readonly name: string
  /** Time from the end of one run to the start of the next. */
  readonly everyMs: number
  /**
   * `each node`: every node does it for itself, or repeating it on another node changes nothing. `one node`: a lease or a
   * row lock in the database gives each sink, backtest or audit chain to one node at a time.
   */
  readonly runs: 'one node' | 'each node'
  readonly purpose: string
  /** The part of the configuration without which the job is not started. */
  readonly onlyWith?:
    | 'PostgreSQL'
    | 'Redis'
    | 'embedded storage'
    | 'server.tls'
    | 'values from files'
    | 'console.enabled'
    | 'traces.endpoint'
    | 'credits.retention_days'
}

/** All periodic work of a server. An architecture test rejects timers that are started anywhere else. */
export const jobs = [
  {
    name: 'watch-changes',
    everyMs: 500,
    runs: 'each node',
    onlyWith: 'PostgreSQL',
    purpose: 'Finds organizations that other nodes changed, and evicts them from the caches of this node.',
  },
  {
    name: 'reload-file-values',
    everyMs: 2_000,
    runs: 'each node',
    onlyWith: 'values from files',
    purpose: 'Reads the files again that the configuration takes values from, such as the key of an upstream.',
  },
  {
    name: 'reload-tls-certificate',
    everyMs: 5_000,
    runs: 'each node',
    onlyWith: 'server.tls',
    purpose: 'Reads the TLS certificate and its key again, and uses them for new connections if they changed.',
  },
  {
    name: 'node-heartbeat',
    everyMs: 10_000,
    runs: 'each node',
    onlyWith: 'PostgreSQL',
    purpose: 'Publishes that this node is alive, and reads which other nodes are.',
  },
  {
    name: 'contribute-usage',
    everyMs: 1_000,
    runs: 'each node',
    onlyWith: 'Redis',
    purpose: 'Sends Redis the usage that this node counted without it, and all of it after Redis lost its data.',
  },
  {
    name: 'save-limit-usage',
    everyMs: 1_000,
    runs: 'each node',
    onlyWith: 'embedded storage',
    purpose: 'Saves the usage counters of the limits, so that a restart does not reset them.',
  },
  {
    name: 'remove-old-limit-usage',
    everyMs: hourMs,
    runs: 'each node',
    onlyWith: 'embedded storage',
    purpose: 'Removes saved usage counters that are older than the longest limit window.',
  },
  {
    name: 'renew-slots',
    everyMs: 10_000,
    runs: 'each node',
    purpose: 'Renews the concurrency slots of requests that are still running.',
  },
  {
    name: 'flush-spooled-charges',
    everyMs: 1_000,
    runs: 'each node',
    onlyWith: 'PostgreSQL',
    purpose: 'Writes charges from the disk of this node to PostgreSQL once it can be reached again.',
  },
  {
    name: 'reconcile-slices',
    everyMs: 10_000,
    runs: 'each node',
    purpose: 'Returns credit slices that no node can spend to the ledger.',
  },
  {
    name: 'reconcile-requests',
    everyMs: minuteMs,
    runs: 'each node',
    purpose: 'Ends credit holds of requests whose node died, and checks that the sums of the ledger agree.',
  },
  {
    name: 'fold-ledger',
    everyMs: hourMs,
    runs: 'each node',
    onlyWith: 'credits.retention_days',
    purpose:
      'Replaces the charges of months that were kept long enough by a balance, after a verification of the ledger.',
  },
  {
    name: 'sign-audit-log',
    everyMs: 10_000,
    runs: 'one node',
    purpose: 'Signs a checkpoint for each audit chain that has enough new events.',
  },
  {
    name: 'verify-audit-logs',
    everyMs: 1_000,
    runs: 'one node',
    purpose: 'Verifies the audit logs for which an administrator asked it, one after the other.',
  },
  {
    name: 'pack-audit-log',
    everyMs: 10_000,
    runs: 'each node',
    purpose: 'Compresses the audit events, 128 together.',
  },
  {
    name: 'trim-audit-log',
    everyMs: 10 * minuteMs,
    runs: 'one node',
    purpose: 'Archives and removes audit events that are older than the retention period.',
  },
  {
    name: 'create-audit-partitions',
    everyMs: hourMs,
    runs: 'each node',
    onlyWith: 'PostgreSQL',
    purpose: 'Creates the partitions of the audit log for the next days.',
  },
  {
    name: 'flush-spooled-audit-events',
    everyMs: 1_000,
    runs: 'each node',
    onlyWith: 'PostgreSQL',
    purpose: 'Writes audit events from the disk of this node to PostgreSQL once it can be reached again.',
  },
  {
    name: 'fold-rollup-deltas',
    everyMs: 1_000,
    runs: 'each node',
    purpose: 'Adds new requests, usage and decisions to the sums by minute, hour and day, which the reports read.',
  },
  {
    name: 'trim-rollup',
    everyMs: hourMs,
    runs: 'each node',
    purpose:
      'Removes sums by minute after 2 days, by hour after 92 days, by day after 1,100 days, and names of end users.',
  },
  {
    name: 'send-exports',
    everyMs: 1_000,
    runs: 'one node',
    purpose: 'Starts a delivery for each export sink that has events to send.',
  },
  {
    name: 'evaluate-alert-rules',
    everyMs: minuteMs,
    runs: 'one node',
    purpose: 'Compares the sums with the thresholds of the alert rules, and writes alerts that begin or end.',
  },
  {
    name: 'send-alerts',
    everyMs: 1_000,
    runs: 'one node',
    purpose: 'Sends the messages of alerts by webhook, Slack and mail.',
  },
  {
    name: 'remove-old-alerts',
    everyMs: hourMs,
    runs: 'each node',
    purpose: 'Removes alerts that began more than 90 days ago and are over, and gives up messages after a day.',
  },
  {
    name: 'send-traces',
    everyMs: 1_000,
    runs: 'each node',
    onlyWith: 'traces.endpoint',
    purpose: 'Sends the spans of ended requests to the OpenTelemetry collector.',
  },
  {
    name: 'measure-export-backlog',
    everyMs: 15_000,
    runs: 'each node',
    purpose: 'Reads how far the export sinks are behind, for the metrics.',
  },
  {
    name: 'measure-storage',
    everyMs: minuteMs,
    runs: 'each node',
    purpose:
      'Reads the size of the database, the free disk and how far retention and sums are behind, for the metrics.',
  },
  {
    name: 'run-backtests',
    everyMs: 1_000,
    runs: 'one node',
    purpose: 'Runs queued backtests, one after the other.',
  },
  {
    name: 'write-judge-counts',
    everyMs: 2_000,
    runs: 'each node',
    purpose: 'Writes what this node asked judges, and reports a model that answers under another name.',
  },
  {
    name: 'watch-judges',
    everyMs: 10 * minuteMs,
    runs: 'each node',
    purpose: 'Starts the nightly checks of active judges, and begins and ends alarms about drift.',
  },
  {
    name: 'run-calibrations',
    everyMs: 1_000,
    runs: 'one node',
    purpose: 'Runs queued calibrations of judges, one after the other.',
  },
  {
    name: 'watch-denial-spikes',
    everyMs: 2_000,
    runs: 'each node',
    purpose:
      'Writes the decision counts of this node, and reports a policy whose denials spike over all nodes or pauses it.',
  },
  {
    name: 'record-expired-exceptions',
    everyMs: 10_000,
    runs: 'each node',
    purpose: 'Writes an audit event for each exception of a policy that has expired. It ends by itself before.',
  },
  {
    name: 'flush-spooled-responses',
    everyMs: 1_000,
    runs: 'each node',
    onlyWith: 'PostgreSQL',
    purpose: 'Writes stored responses from the disk of this node to PostgreSQL once it can be reached again.',
  },
  {
    name: 'expire-appeals',
    everyMs: minuteMs,
    runs: 'each node',
    purpose: 'Closes appeals that nobody decided about within thirty days.',
  },
  {
    name: 'remove-expired-idempotency-keys',
    everyMs: hourMs,
    runs: 'each node',
    purpose: 'Removes idempotency keys and the replies that were kept for them for a day.',
  },
  {
    name: 'remove-ended-console-sessions',
    everyMs: 10 * minuteMs,
    runs: 'each node',
    onlyWith: 'console.enabled',
    purpose: 'Removes sessions and one-time links of the console that have ended.',
  },
  {
    name: 'remove-expired-responses',
    everyMs: 10 * minuteMs,
    runs: 'each node',
    purpose: 'Removes stored responses that are older than their retention period.',
  },
  {
    name: 'release-expired-quota-reservations',
    everyMs: minuteMs,
    runs: 'each node',
    purpose: 'Releases quota that was reserved for requests whose node died.',
  },
  {
    name: 'remove-ended-quotas',
    everyMs: hourMs,
    runs: 'each node',
    purpose: 'Removes the counters of quota windows that ended more than a day ago.',
  },
  {
    name: 'remove-old-denial-spikes',
    everyMs: hourMs,
    runs: 'each node',
    purpose: 'Removes reported denial spikes that ended more than two days ago.',
  },
  {
    name: 'remove-old-decision-callers',
    everyMs: 10 * minuteMs,
    runs: 'each node',
    purpose: 'Removes callers without a request for an hour from the counts of the spike monitor.',
  },
  {
    name: 'remove-old-backtests',
    everyMs: hourMs,
    runs: 'each node',
    purpose: 'Removes backtests that are older than thirty days.',
  },
  {
    name: 'remove-old-runs',
    everyMs: hourMs,
    runs: 'each node',
    purpose: 'Removes old runs of the publish gate, and old calibrations and counts of judges.',
  },
] as const satisfies readonly JobDefinition[]

export type JobName = (typeof jobs)[number]['name']
