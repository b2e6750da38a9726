import { latencyBounds } from '../traffic/traffic.ts'

/** The lengths of time that sums are kept by, in seconds. */
export const minute = 60
export const hour = 3_600
export const day = 86_400
/** From Thursday to Wednesday, UTC, because Unix time begins with a Thursday. */
export const week = 604_800

type KindDefinition = {
  /** What its sums are grouped by, beside the organization and the time. */
  readonly dimensions: readonly RollupDimension[]
  readonly sums: readonly string[]
  /** Coarsest first. */
  readonly steps: readonly number[]
}

export type RollupDimension =
  | 'projectId'
  | 'keyId'
  | 'model'
  | 'userId'
  | 'tags'
  | 'upstream'
  | 'decision'
  | 'status'
  | 'subject'
  | 'version'

const latencySums = Array.from({ length: latencyBounds.length + 1 }, (_, at) => `latency${at}`)

const requestSums = ['requests', 'denials', 'errors', 'inputTokens', 'outputTokens', 'costMicroUsd', ...latencySums]
const chargeSums = ['requests', 'inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'micro']
const decisionSums = ['requests', 'denials', 'recordedRequests', 'recordedDenials']

/**
 * The kinds of sums. Keys and users have kinds of their own, because the product of all dimensions would be many rows. A user has
 * no minutes for the same reason, and has weeks, because a sum over a whole period would read a row of each user for each day.
 */
export const rollupKinds = {
  /** Requests of the audit log. */
  traffic: {
    dimensions: ['projectId', 'model', 'upstream', 'decision', 'status'],
    sums: requestSums,
    steps: [day, hour, minute],
  },
  key: { dimensions: ['keyId'], sums: requestSums, steps: [day, hour, minute] },
  /** Charges of the ledger. */
  usage: { dimensions: ['projectId', 'keyId', 'model'], sums: chargeSums, steps: [day, hour, minute] },
  user: { dimensions: ['projectId', 'keyId', 'model', 'userId'], sums: chargeSums, steps: [week, day, hour] },
  /** What requests cost, also where nothing is charged. There is no row for each minute, because tags are many. */
  cost: { dimensions: ['projectId', 'keyId', 'model', 'userId', 'tags'], sums: chargeSums, steps: [day, hour] },
  /** Decisions of a policy or of the gateway configuration. */
  policy: { dimensions: ['subject', 'version'], sums: decisionSums, steps: [day, hour, minute] },
} as const satisfies Readonly<Record<string, KindDefinition>>

export type RollupKind = keyof typeof rollupKinds

export const kindNames = Object.keys(rollupKinds) as RollupKind[]

export const startOf = (seconds: number, step: number): number => Math.floor(seconds / step) * step
