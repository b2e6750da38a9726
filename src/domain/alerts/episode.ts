import { minuteMs } from '../../base/clock.ts'

/** `pending`: a rule applies, and it is not known yet whether that lasts. A subject without a state is fine. */
export type EpisodeState = {
  readonly subject: string
  readonly state: 'pending' | 'firing'
  readonly sinceMs: number
  /** Since when a firing rule does not apply; null while it applies. */
  readonly clearSinceMs: number | null
  /** The alert that was sent. */
  readonly alertId: string | null
}

/** What happens to a subject: nothing, or one change of its state. */
export type EpisodeStep = 'none' | 'begin_pending' | 'forget' | 'fire' | 'begin_clearing' | 'stop_clearing' | 'resolve'

/** An alert is over when its rule did not apply for this long, so that one that comes and goes sends one alert. */
const clearMs = 5 * minuteMs

type Evaluated = { readonly applies: boolean; readonly nowMs: number; readonly forMs: number }

/**
 * The next step of one subject. A rule must apply in two evaluations in a row, and for as long as it says, before it fires.
 * Evaluations are a minute apart.
 */
export function stepOf(state: EpisodeState | undefined, { applies, nowMs, forMs }: Evaluated): EpisodeStep {
  if (state === undefined) return applies ? 'begin_pending' : 'none'
  if (state.state === 'pending') {
    if (!applies) return 'forget'
    return nowMs - state.sinceMs >= Math.max(forMs, minuteMs) ? 'fire' : 'none'
  }
  if (applies) return state.clearSinceMs === null ? 'none' : 'stop_clearing'
  if (state.clearSinceMs === null) return 'begin_clearing'
  return nowMs - state.clearSinceMs >= clearMs ? 'resolve' : 'none'
}
