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
