import { Fault } from '../../base/fault.ts'
import type { Appeal, AppealState } from './appeal.ts'

/** The state of an appeal at a time: an open one whose time is over has expired, also before the job has recorded it. */
export const stateAt = ({ state, expiresAtMs }: Appeal, nowMs: number): AppealState =>
  state === 'open' && nowMs >= expiresAtMs ? 'expired' : state

export function requireOpen(appeal: Appeal, nowMs: number): void {
  const state = stateAt(appeal, nowMs)
  if (state === 'open') return
  throw new Fault('conflict', 'invalid_state', `The appeal ${appeal.id} is ${state}, so it cannot be changed.`)
}

/** Nobody decides about their own appeal. */
export function requireReviewer({ id, openedBy }: Appeal, by: string): void {
  if (openedBy !== by) return
  throw new Fault('conflict', 'invalid_state', `${by} opened the appeal ${id}, so another person has to review it.`)
}
