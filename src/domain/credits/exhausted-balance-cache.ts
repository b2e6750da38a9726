import type { Clock } from '../../base/clock.ts'
import type { Changes } from '../identity/changes.ts'
import type { Need } from './need.ts'

export type ExhaustedBalanceParts = { readonly clock: Clock; readonly changes: Pick<Changes, 'latestOf'> }

const rememberMs = 1_000
const mostRemembered = 10_000

/**
 * Remembers for a moment that an organization's balance is used up, so that callers who keep asking do not keep the
 * database busy. A grant ends it at once.
 */
export function createExhaustedBalanceCache({ clock, changes }: ExhaustedBalanceParts) {
  const known = new Map<
    string,
    { readonly availableMicro: number; readonly untilMs: number; readonly change: number }
  >()

  return {
    note(organizationId: string, availableMicro: number): void {
      if (known.size >= mostRemembered) known.clear()
      const untilMs = clock.monotonicMs() + rememberMs
      known.set(organizationId, { availableMicro, untilMs, change: changes.latestOf(organizationId) })
    },
    /** Whether this need is known to be too much. */
    covers({ organizationId, micro, standing }: Need): boolean {
      const dry = known.get(organizationId)
      if (dry === undefined) return false
      const isOver = clock.monotonicMs() >= dry.untilMs || changes.latestOf(organizationId) !== dry.change
      if (isOver) known.delete(organizationId)
      return !isOver && micro - standing.leftMicro > dry.availableMicro
    },
  }
}
