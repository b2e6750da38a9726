import { Fault } from '../../../base/fault.ts'

export type UsagePeriod = { readonly fromMs: number; readonly toMs: number }

/** The period is a part of the cursor, because its default end is the time of the request. */
export const usageCursor = ({ fromMs, toMs }: UsagePeriod, nextMs: number): string => `${fromMs}-${toMs}-${nextMs}`

export function readUsageCursor(cursor: string): UsagePeriod & { readonly pageFromMs: number } {
  const [, fromMs = 0, toMs = 0, pageFromMs = 0] = (/^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []).map(Number)
  if (fromMs < pageFromMs && pageFromMs < toMs) return { fromMs, toMs, pageFromMs }
  const message = 'page: must be the `next_page` of the page before.'
  throw new Fault('malformed', 'invalid_cursor', message, { param: 'page' })
}
