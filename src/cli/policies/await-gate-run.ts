import { setTimeout } from 'node:timers/promises'
import type { GateRunBody } from '../../http/admin/policies/gate-schema.ts'

const everyMs = 300
/** A backtest without progress for this long is not running: no server works on it. */
const timeoutMs = 20_000

type Waiting = Pick<GateRunBody, 'state' | 'checks'>

/** Polls a run of the publish gate until its backtest has ended or makes no more progress. */
export async function awaitRun<Run extends Waiting>(
  started: Run,
  read: () => Promise<Run>,
  progress?: (text: string) => void,
): Promise<Run> {
  let run = started
  let shown = ''
  let waitedMs = 0
  while (run.state === 'running' && waitedMs < timeoutMs) {
    const text = run.checks.find(({ state }) => state === 'running')?.message ?? ''
    waitedMs = text === shown ? waitedMs + everyMs : 0
    shown = text
    progress?.(text)
    await setTimeout(everyMs)
    run = await read()
  }
  progress?.('')
  return run
}
