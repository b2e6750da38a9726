import { Fault } from '../../base/fault.ts'
import { openChecks, type GateCheck, type GateState } from './checks.ts'
import { staleRun, type GateRun } from './gate-run.ts'

/** A run with what it means now. */
export type GateReport = {
  readonly run: GateRun
  readonly state: GateState
  readonly checks: readonly GateCheck[]
  /** Whether the content or the cases have changed since, or the run is too old. */
  readonly isStale: boolean
}

/** What the audit record of a publication says about the gate. Throws if it is not passed and not overridden. */
export function passOrThrow(
  report: GateReport,
  { isNeeded, overrideReason }: { readonly isNeeded: boolean; readonly overrideReason: string | undefined },
): Readonly<Record<string, unknown>> {
  const problem = isNeeded ? problemOf(report) : undefined
  if (problem && overrideReason === undefined) throw problem
  return { ...recorded(report), ...(problem && { override: { reason: overrideReason, code: problem.code } }) }
}

function problemOf(report: GateReport): Fault | undefined {
  if (report.isStale) return staleRun(report.run)
  const open = openChecks(report.checks)
  if (open.length === 0) return undefined
  const message = `The draft has not passed the publish gate. ${open.map(({ message: each }) => each).join(' ')}`
  return new Fault('conflict', 'gate_not_passed', message, { param: 'gate_run', checks: open.map(checkBody) })
}

const recorded = ({ run, state, checks }: GateReport): Readonly<Record<string, unknown>> => ({
  run_id: run.id,
  digest: run.digest,
  state,
  checks: checks.map(checkBody),
  approved_by: run.approvals.map(({ by }) => by),
})

/** A check under the names of the API. */
export const checkBody = ({ limitBp, boundBp, examples, ...check }: GateCheck) => ({
  ...check,
  limit_bp: limitBp,
  bound_bp: boundBp,
  examples: [...examples],
})
