import type { Usage } from '../../../domain/inference/events.ts'
import { isRecord } from '../../../base/record.ts'

type Fields = Readonly<Record<string, unknown>>

/** Counts in an upstream's own words, which may say more than ours; in ours, where it counted wrongly or not at all. */
export function vendorUsage(theirs: unknown, ours: Fields, { source }: Usage): Fields {
  const own = isRecord(theirs) ? theirs : ours
  return source === 'reported' ? own : { ...own, ...ours }
}
