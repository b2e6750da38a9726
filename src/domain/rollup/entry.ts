import { toUnixSeconds } from '../../base/clock.ts'
import type { ChainedEvent } from '../audit/chain/chained-event.ts'
import { noTags, textOfTags } from '../costs/tags.ts'
import type { Charge } from '../credits/charge.ts'
import type { MinuteCount } from '../evaluation/spikes/decision-counts.ts'
import { latencyBounds } from '../traffic/traffic.ts'
import { failureSubject, isFailure, isRateLimited, rateLimitSubject } from './failures.ts'
import { minute, startOf, type RollupKind } from './kinds.ts'

export type DimensionValue = string | number

/** What one or several items of the same minute and dimensions add to the sums. Stored as JSON until it is folded. */
export type RollupEntry = readonly [
  source: EntrySource,
  /** Start of the minute, Unix seconds. */
  startTime: number,
  dimensions: readonly DimensionValue[],
  sums: readonly number[],
]

export type EntrySource = 'charge' | 'request' | 'decision'

type Sums = readonly number[]

/** A kind that an entry adds to, with the positions of its dimensions in the entry, and its sums of those in the entry. */
type AddedKind = readonly [RollupKind, readonly number[], (sums: Sums) => Sums]

const all = (sums: Sums): Sums => sums

const charged = (sums: Sums): Sums => sums.slice(0, 6)

/** Entries of earlier versions have neither a cost nor tags. */
const costing = (sums: Sums): Sums => [...sums.slice(0, 5), sums[6] ?? sums[5] ?? 0]

export const kindsOfSource: Readonly<Record<EntrySource, readonly AddedKind[]>> = {
  charge: [
    ['usage', [0, 1, 2], charged],
    ['user', [0, 1, 2, 3], charged],
    ['cost', [0, 1, 2, 3, 4], costing],
  ],
  request: [
    ['traffic', [0, 1, 2, 3, 4], all],
    ['key', [5], all],
  ],
  decision: [['policy', [0, 1], all]],
}

/** Undefined for an orphan: nobody knows what it used. */
export function entryOfCharge({ outcome, usage, ...charge }: Charge): RollupEntry | undefined {
  if (outcome === 'orphaned') return undefined
  const { micro, costMicro = micro, userId = '', tags = noTags } = charge
  return [
    'charge',
    startOf(toUnixSeconds(charge.atMs), minute),
    [...[charge.projectId, charge.keyId, charge.model, userId].map(storable), textOfTags(tags)],
    [1, usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, usage.outputTokens, micro, costMicro],
  ]
}

/** What a request adds. Other events add nothing. */
export function entriesOfEvent(event: ChainedEvent): RollupEntry[] {
  if (event.code !== 'gateway.request.decided') return []
  const entries = [entryOfRequest(event)]
  if (isFailure(event)) entries.push(...errorEntries(event, failureSubject))
  else if (isRateLimited(event)) entries.push(...errorEntries(event, rateLimitSubject))
  return entries
}

/** One for the organization, one for the project and one for the key. */
function errorEntries(
  { timeMs, projectId, actorId }: ChainedEvent,
  subjectOf: (id: string | undefined) => string,
): RollupEntry[] {
  const subjects = [undefined, projectId ?? undefined, actorId ?? undefined].map(subjectOf)
  const startTime = startOf(toUnixSeconds(timeMs), minute)
  return [...new Set(subjects)].map((subject) => ['decision', startTime, [storable(subject), 0], [1, 0, 0, 0]])
}

function entryOfRequest(event: ChainedEvent): RollupEntry {
  const { projectId, model, upstream, decision, status, actorId } = event
  return [
    'request',
    startOf(toUnixSeconds(event.timeMs), minute),
    [projectId ?? '', model ?? '', upstream ?? '', decision ?? '', status ?? 'ok', actorId ?? ''].map(storable),
    [
      1,
      status === 'denied' ? 1 : 0,
      status === 'error' ? 1 : 0,
      event.inputTokens ?? 0,
      event.outputTokens ?? 0,
      event.costMicroUsd ?? 0,
      ...latencyOf(event.latencyMs),
    ],
  ]
}

export const entryOfDecisions = (count: MinuteCount): RollupEntry => [
  'decision',
  count.minute * minute,
  [count.subject, count.version],
  [count.requests, count.denials, count.recordedRequests, count.recordedDenials],
]

/** PostgreSQL indexes at most 2,700 bytes. */
const maxLength = 200

/** Callers choose names of models and users. A text that an engine rejects would stop the fold of all deltas. */
export const storable = (text: string): string => text.slice(0, maxLength).toWellFormed().replaceAll('\u0000', '\ufffd')

/** One in the bucket of the latency. A request without a latency is in none. */
function latencyOf(latencyMs: number | null): number[] {
  const buckets = Array<number>(latencyBounds.length + 1).fill(0)
  if (latencyMs === null) return buckets
  const bucket = latencyBounds.findIndex((bound) => latencyMs < bound)
  buckets[bucket === -1 ? latencyBounds.length : bucket] = 1
  return buckets
}

/** The same sums in as few entries as possible. */
export function sumEntries(entries: readonly RollupEntry[]): readonly RollupEntry[] {
  if (entries.length < 2) return entries
  const byKey = new Map<string, RollupEntry>()
  for (const entry of entries) {
    const [source, startTime, dimensions, sums] = entry
    const key = JSON.stringify([source, startTime, dimensions])
    const known = byKey.get(key)
    byKey.set(key, known === undefined ? entry : [source, startTime, dimensions, addSums(known[3], sums)])
  }
  return [...byKey.values()]
}

export const addSums = (sums: readonly number[], others: readonly number[]): number[] =>
  sums.map((sum, at) => sum + (others[at] ?? 0))
