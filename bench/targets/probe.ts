import { writeFileSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
import { startProfile } from './profile-probe.ts'
import type { ProbeReading } from '../load/probe-reading.ts'

/**
 * Preloaded into a measured Node process (`node --import probe.ts`). On SIGUSR2 it writes what only the process itself can count to
 * the file that BENCH_PROBE names. Beside that it only adds up pauses for garbage collection, so it hardly changes what is measured. With
 * BENCH_PROFILE it also profiles from the first reading to the second, and with BENCH_TRACE it measures where requests wait.
 */
const file = process.env['BENCH_PROBE']
const trace = process.env['BENCH_TRACE'] === undefined ? undefined : await import('./trace-probe.ts')
if (!isMainThread) trace?.traceStorage()
if (isMainThread && file !== undefined) {
  let pausesMs = 0
  let longestPauseMs = 0
  let readings = 0
  const readWaits = trace?.startTrace()
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      pausesMs += duration
      longestPauseMs = Math.max(longestPauseMs, duration)
    }
  }).observe({ entryTypes: ['gc'] })

  const profileFile = process.env['BENCH_PROFILE']
  const profileKind = profileFile?.endsWith('.heapprofile') === true ? 'heap' : 'cpu'
  let endProfile: (() => Promise<void>) | undefined

  async function profile(into: string): Promise<void> {
    if (readings === 1) endProfile = await startProfile(profileKind, into)
    else await endProfile?.()
  }

  process.on('SIGUSR2', () => {
    const allocatedBytes = getHeapStatistics().total_allocated_bytes
    const waits = readWaits?.()
    const counted = { reading: ++readings, allocatedBytes, pausesMs, longestPauseMs }
    const reading: ProbeReading = { ...counted, ...(waits && { waits }) }
    longestPauseMs = 0
    const isProfiled = profileFile === undefined ? Promise.resolve() : profile(profileFile)
    void isProfiled.then(() => writeFileSync(file, JSON.stringify(reading)))
  })
}
