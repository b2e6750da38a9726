import { useSearch } from '@tanstack/react-router'
import { timeSpan } from '../kit/format.ts'
import type { Zone } from '../kit/zone.ts'
import { words } from '../words/en.ts'

/** Ranges that end now, in seconds. */
export const rangeSeconds = { '15m': 900, '1h': 3_600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const

export type RangeName = keyof typeof rangeSeconds

/** In the address: a range that ends now, or `from` and `to` in Unix seconds. */
export type TimeRangeSearch = {
  readonly range?: RangeName | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export const rangeNames = Object.keys(rangeSeconds) as readonly RangeName[]

const defaultRange: RangeName = '24h'

export function readTimeRange(search: Record<string, unknown>): TimeRangeSearch {
  const { from, to } = search
  const range = rangeNames.find((name) => name === search['range'])
  const isChosen = typeof from === 'number' && typeof to === 'number' && from < to
  return isChosen ? { from, to } : { range }
}

/** What a query asks for. A range that ends now has no `to`, so that its key stays the same while time passes. */
export type TimeRange = { readonly name: RangeName | 'custom'; readonly from: number; readonly to: number | undefined }

/** Ranges move in steps of this length, so that a query is not a new one each second. */
const stepSeconds = 10

export function timeRangeOf({ range, from, to }: TimeRangeSearch, nowMs: number): TimeRange {
  if (from !== undefined && to !== undefined) return { name: 'custom', from, to }
  const name = range ?? defaultRange
  const now = Math.floor(nowMs / 1_000 / stepSeconds) * stepSeconds
  return { name, from: now - rangeSeconds[name], to: undefined }
}

/** The zone of all times. The address holds it unless it is that of the browser, so that a link shows the same times. */
export type ZoneSearch = { readonly zone?: 'utc' | undefined }

export const readZone = (search: Record<string, unknown>): ZoneSearch => ({
  zone: search['zone'] === 'utc' ? 'utc' : undefined,
})

export const useZone = (): Zone => useSearch({ from: '__root__' }).zone ?? 'local'

/** The name of the range: that of a preset, or from when to when. */
export function rangeLabel(search: TimeRangeSearch): string {
  const { name, from, to } = timeRangeOf(search, Date.now())
  return name === 'custom' ? timeSpan(from * 1_000, (to ?? from) * 1_000) : words.range[name]
}

export function useTimeRangeSearch(): TimeRangeSearch {
  const { range, from, to } = useSearch({ from: '__root__' })
  return { range, from, to }
}
