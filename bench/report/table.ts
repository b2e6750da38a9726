import type { BenchCase } from '../cases.ts'
import { chunksPerAnswer } from '../load/workload.ts'
import type { Figure } from '../measure.ts'
import { stages, type Stage } from '../targets/trace-probe.ts'
import { encoderShare, rowsOf, type Row } from './rows.ts'

/** Plain text for the terminal. */
export function table(figures: readonly Figure[]): string {
  return rowsOf(figures)
    .map(({ benchCase, rows }) => {
      const unit = benchCase.workload.stream === 'paced' ? 'chunk' : 'request'
      const lines = rows.map((row) => line(benchCase, row))
      return `${benchCase.name} (CPU microseconds per ${unit})\n${lines.join('\n')}\n`
    })
    .join('\n')
}

function line({ workload }: BenchCase, row: Row): string {
  const { target, figure, leastMicros, mostMicros, timesBare, hasSettled } = row
  const { cpuMicros, p50Ms, p99Ms, heap, requests, chunks, chunkP50Ms = 0, chunkP99Ms = 0, residentKb } = figure
  const ratio = timesBare === undefined ? '' : `${timesBare.toFixed(2)} x bare`
  const spread = `(${leastMicros.toFixed(0)} to ${mostMicros.toFixed(0)})`
  const delay =
    chunks === undefined
      ? `p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms`
      : `chunk delay p50 ${chunkP50Ms.toFixed(0)} p99 ${chunkP99Ms.toFixed(0)} ms`
  const perRequest = workload.stream === 'burst' ? ` ${(cpuMicros / chunksPerAnswer).toFixed(1)} a chunk` : ''
  const garbage = heap === undefined ? '' : `${(heap.allocatedBytes / 1024 / requests).toFixed(0)} KB allocated`
  const share = encoderShare(figure)
  const columns = [
    cpuMicros.toFixed(0).padStart(8) + perRequest,
    ratio.padEnd(12),
    spread.padEnd(16),
    delay,
    `${(residentKb / 1024).toFixed(0)} MB`,
    garbage,
    share === undefined ? '' : `${share.toFixed(1)} % ask the encoder`,
    hasSettled ? '' : 'not settled',
  ]
  return `  ${target.padEnd(31)} ${columns.join('  ')}\n${threadsLine(figure)}${waitsLines(figure)}`
}

/** Where the time goes: per thread, CPU and how often it was woken. */
function threadsLine({ threads, requests, chunks }: Figure): string {
  const units = chunks ?? requests
  const used = Object.entries(threads).filter(([, { cpuMicros }]) => cpuMicros / units >= 0.5)
  if (used.length < 2) return ''
  const shown = used.map(
    ([name, { cpuMicros, queuedMicros, sleeps }]) =>
      `${name} ${(cpuMicros / units).toFixed(0)} us, ${(sleeps / units).toFixed(1)} sleeps, ${(queuedMicros / units).toFixed(0)} us queued`,
  )
  return `${' '.repeat(34)}${shown.join('; ')}\n`
}

function waitsLines({ waits }: Figure): string {
  if (waits === undefined) return ''
  return Object.entries(stages)
    .map(([stage, about]) => {
      const { p50Ms, p99Ms, count } = waits[stage as Stage]
      return `${' '.repeat(34)}${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)}: ${about} (${count})\n`
    })
    .join('')
}
