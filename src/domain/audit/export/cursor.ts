/** `throttled` waits as the destination asked; the two errors wait for somebody to change the configuration. */
export const sinkStates = ['healthy', 'retrying', 'throttled', 'auth_error', 'config_error'] as const
export type SinkState = (typeof sinkStates)[number]

/** How far a sink has come, and how it fares. */
export type Cursor = {
  /** Everything up to this event is delivered, was filtered out, or lies in the dead letters. */
  readonly sequence: number
  /** The end of the batch that was begun: a retry repeats exactly it, so that an object of a store is the same again. */
  readonly planLast: number | null
  readonly state: SinkState
  /** Failures in a row. */
  readonly attempt: number
  readonly nextAttemptAtMs: number
  /** When it was paused, until it works again: also while something else stands in the way, or after a change. */
  readonly failingSinceMs: number | null
  readonly alarmedAtMs: number | null
  readonly lastSuccessAtMs: number | null
  readonly lastErrorAtMs: number | null
  readonly lastError: string | null
}

/** Of a cursor that waits for nothing: a new sink's, or one whose destination has just answered well. */
export const freshStart = {
  state: 'healthy',
  attempt: 0,
  nextAttemptAtMs: 0,
  failingSinceMs: null,
} as const satisfies Partial<Cursor>
