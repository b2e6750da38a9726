import { dayMs, toUnixSeconds } from '../base/clock.ts'
import type { TrafficStore } from '../domain/traffic/traffic.ts'
import type { Infrastructure } from './infrastructure.ts'

const minutesKeptMs = 2 * dayMs
const hoursKeptMs = 90 * dayMs

/** Starts the jobs that sum up the requests of the audit log, until the app is closed. */
export function openTraffic({ built, jobs, clock }: Infrastructure, traffic: TrafficStore): void {
  const before = (keptMs: number): number => toUnixSeconds(clock.nowMs() - keptMs)
  const addAll = async (): Promise<void> => {
    while (!(await traffic.addNewEvents())) continue
  }
  const trim = async (): Promise<void> => {
    await traffic.mergeMinutes(before(minutesKeptMs))
    await traffic.removeBefore(before(hoursKeptMs))
  }
  built.use(jobs.start('sum-up-traffic', addAll))
  built.use(jobs.start('trim-traffic', trim))
}
