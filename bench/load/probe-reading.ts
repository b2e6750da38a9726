import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Waits } from '../targets/trace-probe.ts'

/** What bench/targets/probe.ts counts in the main thread of the measured process. */
export type ProbeReading = {
  readonly reading: number
  /** Bytes that JavaScript objects took since the start. Contents of buffers are not included. */
  readonly allocatedBytes: number
  /** Time in garbage collection since the start. */
  readonly pausesMs: number
  /** The longest since the last reading. */
  readonly longestPauseMs: number
  /** Since the last reading, if the process is traced. */
  readonly waits?: Waits
}

/** Asks the process for a reading. It may be busy, so this takes up to a second. */
export async function readProbe(pid: number, file: string): Promise<ProbeReading> {
  const last = current(file)?.reading ?? 0
  process.kill(pid, 'SIGUSR2')
  for (let turn = 0; turn < 500; turn++) {
    const reading = current(file)
    if (reading !== undefined && reading.reading > last) return reading
    await setTimeout(2)
  }
  throw new Error(`process ${pid} wrote no reading to ${file}`)
}

function current(file: string): ProbeReading | undefined {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ProbeReading) : undefined
  } catch {
    return undefined // half written
  }
}
