import { dayMs, type Clock } from '../../base/clock.ts'
import type { Tags } from './tags.ts'

/** Values of a name that an organization may use on one UTC day. Callers choose them, and sums have a row for each. */
const maxValues = 10_000

/** Stands for all further values. */
const otherValue = 'other'

/** Replaces values that are too many. */
export type LimitTagValues = (organizationId: string, tags: Tags) => Tags

/** Remembers the values of the day on this node, at most 10,000 of each name and organization. */
export function createTagValues(clock: Pick<Clock, 'nowMs'>): LimitTagValues {
  let day = -1
  const seen = new Map<string, Set<string>>()
  return (organizationId, tags) => {
    const today = Math.floor(clock.nowMs() / dayMs)
    if (today !== day) seen.clear()
    day = today
    const limited = Object.entries(tags).map(([name, value]) => {
      const key = `${organizationId} ${name}`
      const values = seen.get(key) ?? new Set()
      if (values.size === 0) seen.set(key, values)
      if (values.size < maxValues) values.add(value)
      return [name, values.has(value) ? value : otherValue]
    })
    return Object.fromEntries(limited)
  }
}
