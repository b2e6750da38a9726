import { setTimeout } from 'node:timers/promises'
import { readResidentKb } from './load/process.ts'
import { startGatehouse } from './targets/gatehouse.ts'
import { freePort } from './targets/script.ts'
import { median } from './report/rows.ts'

/** A server before its first request. */
export type IdleFigures = {
  /** From the start of the process until it listens, with a data folder that exists. */
  readonly readyMs: number
  readonly residentMb: number
}

const starts = 3
const settleMs = 3000

export async function measureIdle(upstreamPort: number): Promise<IdleFigures> {
  const figures: IdleFigures[] = []
  for (let at = 0; at < starts; at++) {
    const running = await startGatehouse({}, await freePort(), upstreamPort)
    await setTimeout(settleMs)
    figures.push({ readyMs: running.readyMs, residentMb: readResidentKb(running.pid) / 1024 })
    running.stop()
  }
  const middle = (read: (figure: IdleFigures) => number): number => median(figures.map(read)) ?? 0
  return { readyMs: middle(({ readyMs }) => readyMs), residentMb: middle(({ residentMb }) => residentMb) }
}
