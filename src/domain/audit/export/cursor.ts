/** `throttled`: waits as long as the destination requested. The two errors wait until somebody changes the configuration. */
export const sinkStates = ['healthy', 'retrying', 'throttled', 'auth_error', 'config_error'] as const
export type SinkState = (typeof sinkStates)[number]

/** How far a sink has come in the log, and its state. */
export type Cursor = {
  /** Every event up to this one is delivered, filtered out, or a dead letter. */
  readonly sequence: number
  /** The end of the batch in progress. A retry repeats exactly this batch, so that it writes the same object to S3 again. */
  readonly planLast: number | null
  readonly state: SinkState
  /** Failures in a row. */
  readonly attempt: number
  readonly nextAttemptAtMs: number
  /** When the sink was paused; kept until a delivery succeeds, also if the error changes or the sink is edited. */
  readonly failingSinceMs: number | null
  readonly alarmedAtMs: number | null
  readonly lastSuccessAtMs: number | null
  readonly lastErrorAtMs: number | null
  readonly lastError: string | null
}

/** The cursor fields of a sink that waits for nothing: a new one, or one that has just delivered. */
export const freshStart = {
  state: 'healthy',
  attempt: 0,
  nextAttemptAtMs: 0,
  failingSinceMs: null,
} as const satisfies Partial<Cursor>
