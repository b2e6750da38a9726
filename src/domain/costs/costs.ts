/** What costs are grouped by. A tag is one of the names in the configuration. */
export type CostDimension = 'project' | 'key' | 'model' | 'user' | `tag:${string}`

export type CostQuery = {
  readonly organizationId: string
  /** Unix seconds, `to` exclusive. Costs are kept by the hour, so the period is extended to whole hours, and long ago to whole days. */
  readonly from: number
  readonly to: number
  /** Also groups by time: whole hours, in seconds. Left out: one sum for the period. */
  readonly step?: number
  readonly groupBy: readonly CostDimension[]
  readonly filter?: CostFilter
  /** Most rows to read, before they are grouped by tags. More are a fault. */
  readonly maxRows?: number
}

/** All of them must hold. A list that is empty or left out holds for all. */
export type CostFilter = {
  readonly projectIds?: readonly string[]
  readonly keyIds?: readonly string[]
  /** Names, also with `*` at their end. */
  readonly models?: readonly string[]
  readonly users?: readonly string[]
  readonly tags?: Readonly<Record<string, readonly string[]>>
}

/** The costs of one group. */
export type CostSum = {
  /** Unix seconds; left out without a step. */
  readonly startTime?: number
  /** In the order of `groupBy`. Empty for requests without a user or without the tag. */
  readonly group: readonly string[]
  readonly requests: number
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  /** What the requests cost at their rates, in micro-credits, also if nothing was charged. */
  readonly costMicro: number
}

/** Reads what requests cost. A request is in the sums once its charge is written. */
export type CostStore = {
  sums(query: CostQuery): Promise<readonly CostSum[]>
}

/** Whether a model has the name, or its start if the name ends with `*`. */
export const isModel = (model: string, name: string): boolean =>
  name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : model === name
