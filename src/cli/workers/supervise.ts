import { createBufferedStdout } from '../../base/buffered-stdout.ts'
import { systemClock } from '../../base/clock.ts'
import { createLog, type Log } from '../../base/log.ts'
import type { StopSignals } from '../stop-signals.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { restartDelayMs } from './restart-delay.ts'
import { startWorkerProcess, type WorkerEnd, type WorkerProcess } from './worker-process.ts'

export type SupervisorParts = {
  readonly count: number
  readonly logLevel: string
  /** Whether standard output is a terminal, which the workers write to themselves. */
  readonly isTerminal: boolean
  readonly stop: StopSignals
}

/** A worker by its number, through all processes that had it. */
type Slot = {
  readonly number: number
  process: WorkerProcess | undefined
  isReady: boolean
  restarts: number
  /** Deaths since it last ran for long. */
  deathsInARow: number
}

/**
 * Starts the workers, starts one that dies again, and passes a stop on to all. The first one is ready before the others start, because
 * it applies the migrations and creates the first keys. Returns the exit code: that of a worker which cannot start, so that a wrong
 * setting is reported as by a single process.
 */
export async function superviseWorkers({ count, logLevel, isTerminal, stop }: SupervisorParts): Promise<number> {
  const stdout = createBufferedStdout()
  const log = createLog({ level: logLevel, destination: stdout })
  const slots = Array.from({ length: count }, (_, at) => newSlot(at + 1))
  const running = createRunningWorkers(slots, { log, output: isTerminal ? undefined : stdout })
  void stop.first.then(running.stop)
  void stop.second.then(running.stop)
  const [first, ...others] = slots
  let code = first === undefined ? 0 : await running.start(first)
  if (code === 0) code = Math.max(...(await Promise.all(others.map(running.start))))
  if (code !== 0) running.stop()
  const codes = await running.ended()
  return Math.max(code, ...codes)
}

const newSlot = (number: number): Slot => ({
  number,
  process: undefined,
  isReady: false,
  restarts: 0,
  deathsInARow: 0,
})

type Running = { readonly log: Log; readonly output: ReturnType<typeof createBufferedStdout> | undefined }

function createRunningWorkers(slots: readonly Slot[], { log, output }: Running) {
  let isStopping = false
  const ends: Promise<number>[] = []
  const waking = new Set<() => void>()

  const sendTo = (receivers: readonly Slot[], message: ToWorker): void => {
    for (const { process } of receivers) process?.send(message)
  }
  const tellStates = (): void =>
    sendTo(slots, {
      type: 'states',
      states: slots.map(({ number, isReady, restarts }) => ({ number, isReady, restarts })),
    })

  function receive(slot: Slot, message: FromWorker): void {
    const { number } = slot
    if (message.type === 'ready') {
      slot.isReady = true
      tellStates()
    } else if (message.type === 'read metrics') {
      const others = slots.filter((other) => other.isReady && other !== slot)
      sendTo(others, { type: 'read metrics', by: number, id: message.id })
    } else {
      const asking = slots.filter((other) => other.number === message.to)
      sendTo(asking, { type: 'metrics', of: number, id: message.id, text: message.text })
    }
  }

  function startProcess(slot: Slot): WorkerProcess {
    const start = { number: slot.number, count: slots.length, isRestart: slot.restarts > 0 }
    slot.process = startWorkerProcess({ start, output, onMessage: (message) => receive(slot, message) })
    return slot.process
  }

  /** Starts it again until it is stopped. */
  async function keepRunning(slot: Slot, process: WorkerProcess): Promise<number> {
    const startedAtMs = systemClock.monotonicMs()
    const end = await process.ended
    slot.process = undefined
    slot.isReady = false
    if (isStopping) return end.code ?? 0
    slot.restarts += 1
    const delayMs = restartDelayMs(slot, systemClock.monotonicMs() - startedAtMs)
    log.error({ worker: slot.number, ...end, restart_in_ms: delayMs }, 'a worker ended, and is started again')
    tellStates()
    await pause(delayMs)
    return isStopping ? 0 : keepRunning(slot, startProcess(slot))
  }

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, delayMs)
      function end(): void {
        clearTimeout(timer)
        waking.delete(end)
        resolve()
      }
      waking.add(end)
    })
  }

  return {
    /** Returns 0 once it is ready, or was stopped; otherwise the exit code of a worker that cannot start. */
    async start(slot: Slot): Promise<number> {
      if (isStopping) return 0
      const process = startProcess(slot)
      if ((await process.started) === 'ended') return isStopping ? 0 : startFailure(await process.ended)
      ends.push(keepRunning(slot, process))
      return 0
    },
    stop(): void {
      isStopping = true
      for (const { process } of slots) process?.stop()
      for (const wake of waking) wake()
    },
    ended: () => Promise.all(ends),
  }
}

/** A process that a signal killed has no code. */
const startFailure = ({ code }: WorkerEnd): number => code || 1
