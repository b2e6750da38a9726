import { dayMs, hourMs, toUnixSeconds, type Clock } from '../../base/clock.ts'
import { rateLimitSubject } from '../rollup/failures.ts'
import { wholePeriod, type SubjectQuery, type SubjectSums } from '../rollup/subject-sums.ts'
import type { LimitOverride } from '../limits/overrides.ts'
import type { ScopeLimits } from '../limits/scopes.ts'
import { limitsOf, type TierRow } from '../limits/tiers.ts'
import type { TrafficStore, TrafficSum } from '../traffic/traffic.ts'

/** The use of keys is read again after this time. Until then, every open console gets the same. */
const cacheMs = 30_000

export type KeyUseReader = (organizationId: string, open: () => Promise<KeyUseParts>) => Promise<readonly KeyUse[]>

/** Reads the use of keys at most twice a minute for each organization, because it reads sums of every key. */
export function createKeyUseReader(clock: Clock): KeyUseReader {
  const cache = new Map<string, { readonly atMs: number; readonly uses: readonly KeyUse[] }>()
  return async (organizationId, open) => {
    const known = cache.get(organizationId)
    const nowMs = clock.nowMs()
    if (known !== undefined && nowMs - known.atMs < cacheMs) return known.uses
    const uses = await readKeyUse(await open(), organizationId, nowMs)
    cache.set(organizationId, { atMs: nowMs, uses })
    return uses
  }
}

/** How far a key has used its limit of a day, and what limits rejected of it. */
export type KeyUse = {
  readonly keyId: string
  readonly name: string
  /** Of the limit that is closest, in percent. */
  readonly percent: number
  /** Requests that a limit rejected in the same time. */
  readonly rejected: number
}

export type KeyUseParts = {
  readonly traffic: Pick<TrafficStore, 'sums'>
  readonly subjects: SubjectSums
  readonly limitsOf: (keyId: string) => Pick<ScopeLimits, 'rpd' | 'tpd'>
  /** Undefined for what is no API key of the organization, such as a user with a token. */
  readonly findKey: (keyId: string) => Promise<{ readonly name: string } | undefined>
}

/** The limits of each key. */
export function keyLimits(tier: TierRow, overrides: readonly LimitOverride[]): KeyUseParts['limitsOf'] {
  const ofKeys = overrides.filter(({ scope }) => scope === 'key')
  const own = new Map(ofKeys.map(({ subjectId, limits }) => [subjectId, limits]))
  return (keyId) => limitsOf(tier, { key: own.get(keyId) ?? {} }).key
}

/** From this share of the limit on, a person should know. */
export const nearPercent = 80

/** Fewer rejections are no sign of a caller that sends too much. */
const fewestRejected = 10

/** Every user with a token counts as a key. */
const mostKeys = 10_000

/** Most keys that are shown. */
const shown = 5

/** The keys that are at or near their limit of a day, or were rejected by a limit; the most rejected first. */
export async function readKeyUse(parts: KeyUseParts, organizationId: string, nowMs: number): Promise<KeyUse[]> {
  const period = limitDay(nowMs)
  const query = { organizationId, ...period, step: wholePeriod, groupBy: 'key', limit: mostKeys } as const
  const sums = (await parts.traffic.sums(query)).filter(({ group }) => group !== undefined && group !== '')
  const rejections = await rejectionsOf(parts.subjects, { organizationId, ...period }, sums)
  const used = sums
    .map((sum) => useOf(sum, rejections, parts.limitsOf))
    .filter(({ percent, rejected }) => percent >= nearPercent || rejected >= fewestRejected)
    .sort((a, b) => b.rejected - a.rejected || b.percent - a.percent)
    .slice(0, shown)
  const named = await Promise.all(used.map(async (use) => ({ ...use, name: (await parts.findKey(use.keyId))?.name })))
  return named.flatMap(({ name, ...use }) => (name === undefined ? [] : [{ ...use, name }]))
}

/** As the limits count a day: the current hour and the 24 before it. Whole hours need the fewest rows. */
function limitDay(nowMs: number): { readonly from: number; readonly to: number } {
  const hourStart = Math.floor(nowMs / hourMs) * hourMs
  return { from: toUnixSeconds(hourStart - dayMs), to: toUnixSeconds(hourStart + hourMs) }
}

async function rejectionsOf(
  subjects: SubjectSums,
  of: Pick<SubjectQuery, 'organizationId' | 'from' | 'to'>,
  sums: readonly TrafficSum[],
): Promise<ReadonlyMap<string, number>> {
  const names = sums.filter(({ errors }) => errors > 0).map(({ group }) => rateLimitSubject(group))
  const counted = await subjects({ ...of, subjects: names, bucket: wholePeriod })
  return new Map(counted.map(({ subject, requests }) => [subject, requests]))
}

/** A rejected request uses nothing of a limit. */
function useOf(
  { group: keyId = '', requests, inputTokens, outputTokens }: TrafficSum,
  rejections: ReadonlyMap<string, number>,
  limitsOfKey: KeyUseParts['limitsOf'],
): Omit<KeyUse, 'name'> {
  const rejected = rejections.get(rateLimitSubject(keyId)) ?? 0
  const { rpd, tpd } = limitsOfKey(keyId)
  const shareOf = (used: number, limit: number): number => (limit === 0 ? 0 : (used / limit) * 100)
  const percent = Math.max(shareOf(requests - rejected, rpd), shareOf(inputTokens + outputTokens, tpd))
  return { keyId, percent, rejected }
}
