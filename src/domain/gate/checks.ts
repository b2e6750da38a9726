import type { Backtest } from '../evaluation/backtest/backtest.ts'
import { upperBoundBp } from './bound.ts'
import type { GateRun } from './gate-run.ts'
import type { GateLevel, GateSettings } from './settings.ts'

export const checkKinds = [
  'cases',
  'newly_blocked',
  'newly_allowed',
  'not_evaluated',
  'shadow',
  'approvals',
  'judge',
] as const
export type CheckKind = (typeof checkKinds)[number]

/** `insufficient`: too little was recorded to say. `not_run`: nothing was compared; the message says why. */
export const checkStates = ['passed', 'failed', 'running', 'insufficient', 'not_run'] as const
export type CheckState = (typeof checkStates)[number]

export type GateCheck = {
  readonly kind: CheckKind
  readonly level: Exclude<GateLevel, 'off'>
  readonly state: CheckState
  /** What counts against the draft, and of how many. For approvals: those that it has, and those that it needs. */
  readonly found: number
  readonly of: number
  /** The highest share that is allowed and the upper bound of the share that was found, in basis points. */
  readonly limitBp: number | null
  readonly boundBp: number | null
  readonly message: string
  /** Ids of cases, or of events in the audit log. */
  readonly examples: readonly string[]
}

export const gateStates = ['running', 'passed', 'warned', 'failed', 'insufficient'] as const
export type GateState = (typeof gateStates)[number]

/** How the same content did in monitoring, as the version before. */
export type Monitored = { readonly sinceMs: number; readonly requests: number; readonly matches: number }

/** A backtest of a draft or of a gateway configuration. */
export type ReplayFacts = Pick<Backtest, 'status' | 'done' | 'total'> & {
  readonly counts: Pick<Backtest['counts'], 'coverage' | 'newly_blocked' | 'newly_allowed' | 'not_evaluated'> & {
    readonly example_requests: readonly { readonly event_id: string; readonly change: string }[]
  }
}

/** How well the judge in force is known. */
export type JudgeFacts = {
  /** When its last calibration was completed; undefined if it never was. */
  readonly calibratedAtMs: number | undefined
  /** False: it contradicted itself, so the calibration says nothing. */
  readonly isConsistent: boolean
}

export type JudgeFactsStore = {
  /** Of the judge in force; undefined if there is none. */
  factsOf(organizationId: string): Promise<JudgeFacts | undefined>
}

export type GateFacts = {
  readonly settings: GateSettings
  readonly run: Pick<GateRun, 'cases' | 'replayProblem' | 'approvals'>
  readonly backtest: ReplayFacts | undefined
  readonly monitored: Monitored | undefined
  /** The judge that evaluates the draft; undefined if none does. */
  readonly judge?: JudgeFacts | undefined
  /** A draft in monitoring denies nothing, so only its cases and approvals count. */
  readonly isEnforcing: boolean
  readonly nowMs: number
}

const hourMs = 60 * 60 * 1000
/** These hours in monitoring meet a required replay of too few requests. */
const monitoringHours = 24

/** Every check that applies to the draft. */
export function checksOf(facts: GateFacts): GateCheck[] {
  const { cases, replay, shadow, approvals, judge } = facts.settings
  return [
    ...atLevel(cases.level, () => [checkCases(facts)]),
    ...(facts.isEnforcing ? atLevel(replay.level, () => checkReplay(facts)) : []),
    ...(facts.isEnforcing ? atLevel(shadow.level, () => [checkShadow(facts)]) : []),
    ...atLevel(approvals.level, () => [checkApprovals(facts)]),
    ...(facts.judge === undefined ? [] : atLevel(judge.level, () => [checkJudge(facts, facts.judge)])),
  ]
}

/** The checks that stand in the way of a publication. */
export const openChecks = (checks: readonly GateCheck[]): GateCheck[] =>
  checks.filter(({ level, state }) => level === 'require' && state !== 'passed')

export function stateOf(checks: readonly GateCheck[]): GateState {
  if (checks.some(({ state }) => state === 'running')) return 'running'
  const open = openChecks(checks)
  if (open.some(({ state }) => state === 'failed')) return 'failed'
  if (open.length > 0) return 'insufficient'
  return checks.some(({ state }) => state !== 'passed') ? 'warned' : 'passed'
}

type Check = Omit<GateCheck, 'level'>

const atLevel = (level: GateLevel, checks: () => Check[]): GateCheck[] =>
  level === 'off' ? [] : checks().map((check) => ({ ...check, level }))

const noShare = { limitBp: null, boundBp: null } as const

function checkCases({ run: { cases } }: GateFacts): Check {
  const { must, failed, failedIds, shouldFailed } = cases
  const also = shouldFailed === 0 ? '' : ` ${counted(shouldFailed, 'case')} that should pass failed.`
  const message =
    must === 0
      ? `The policy has no cases that must pass.${also}`
      : failed === 0
        ? `${must === 1 ? 'The case' : `All ${must} cases`} that must pass did.${also}`
        : `${failed} of ${counted(must, 'case')} that must pass failed.${also}`
  const state = failed === 0 ? 'passed' : 'failed'
  return { kind: 'cases', state, found: failed, of: must, ...noShare, message, examples: failedIds }
}

const replayed = [
  { kind: 'newly_blocked', limit: 'newly_blocked_bp', verb: 'would newly be denied' },
  { kind: 'newly_allowed', limit: 'newly_allowed_bp', verb: 'would no longer be denied' },
  { kind: 'not_evaluated', limit: 'not_evaluated_bp', verb: 'could not be evaluated' },
] as const

function checkReplay(facts: GateFacts): Check[] {
  const { settings, run, backtest } = facts
  return replayed.flatMap(({ kind, limit, verb }): Check[] => {
    const limitBp = settings.replay[limit]
    if (limitBp === null) return []
    const nothing = { kind, found: 0, of: 0, limitBp, boundBp: null, examples: [] }
    if (backtest?.status === 'running') {
      const { done, total } = backtest
      return [{ ...nothing, state: 'running', message: `Requests are replayed: ${done} of ${total}.` }]
    }
    if (backtest?.status !== 'completed') {
      const message = run.replayProblem ?? `The backtest of this run ${backtest ? 'has no result' : 'was deleted'}.`
      return [{ ...nothing, state: 'not_run', message }]
    }
    const { counts } = backtest
    const { with_text: withText, from_sample: fromSample } = counts.coverage
    const of = kind === 'not_evaluated' ? withText : withText - counts.not_evaluated
    const share = { found: counts[kind], of, limitBp }
    const check = shareCheck(facts, share, verb)
    const message = `${check.message}${sampledText(fromSample)}`
    return [{ ...nothing, ...check, message, examples: examplesOf(counts, kind) }]
  })
}

const examplesOf = ({ example_requests: requests }: ReplayFacts['counts'], kind: CheckKind): string[] =>
  requests.filter(({ change }) => change === kind).map(({ event_id: id }) => id)

type Share = { readonly found: number; readonly of: number; readonly limitBp: number }

function shareCheck(facts: GateFacts, { found, of, limitBp }: Share, verb: string) {
  const { min_events: minEvents } = facts.settings.replay
  const boundBp = upperBoundBp(found, of)
  const share = { found, of, limitBp, boundBp }
  if (of >= minEvents) {
    const state = boundBp <= limitBp ? ('passed' as const) : ('failed' as const)
    return { ...share, state, message: shareText(share, `recorded requests ${verb}`) }
  }
  const few = `Only ${counted(of, 'recorded request')} with texts could be replayed; ${minEvents} are needed.`
  const hours = hoursOf(facts)
  if (hours >= monitoringHours) {
    const message = `${few} The same rule has run in monitoring for ${hours} hours instead.`
    return { ...share, state: 'passed' as const, message }
  }
  const message = `${few} Publish the policy in monitoring for ${monitoringHours} hours first.`
  return { ...share, state: 'insufficient' as const, message }
}

function checkShadow(facts: GateFacts): Check {
  const { settings, monitored } = facts
  const { hours, min_requests: minRequests, max_match_bp: limitBp } = settings.shadow
  const found = monitored?.matches ?? 0
  const of = monitored?.requests ?? 0
  const check = { kind: 'shadow' as const, found, of, limitBp, boundBp: upperBoundBp(found, of), examples: [] }
  if (monitored === undefined) {
    const message = 'The current version is not this rule in monitoring. Publish the draft in monitoring first.'
    return { ...check, state: 'not_run', message }
  }
  const ran = hoursOf(facts)
  if (ran < hours || of < minRequests) {
    const message = `It has run in monitoring for ${ran} of ${hours} hours, on ${of} of ${minRequests} requests.`
    return { ...check, state: 'insufficient', message }
  }
  const state = check.boundBp <= limitBp ? 'passed' : 'failed'
  return { ...check, state, message: shareText(check, 'requests matched in monitoring') }
}

const hoursOf = ({ monitored, nowMs }: GateFacts): number =>
  monitored === undefined ? 0 : Math.floor((nowMs - monitored.sinceMs) / hourMs)

function checkApprovals({ settings, run }: GateFacts): Check {
  const { count } = settings.approvals
  const found = run.approvals.length
  const message = `${found} of ${counted(count, 'approval')} by another person than the author of the draft.`
  return {
    kind: 'approvals',
    state: found >= count ? 'passed' : 'failed',
    found,
    of: count,
    ...noShare,
    message,
    examples: [],
  }
}

const noJudge: JudgeFacts = { calibratedAtMs: undefined, isConsistent: false }

/** In days: how old the calibration is, and how old it may be. */
function checkJudge({ settings, nowMs }: GateFacts, { calibratedAtMs, isConsistent }: JudgeFacts = noJudge): Check {
  const { days } = settings.judge
  const check = { kind: 'judge' as const, of: days, ...noShare, examples: [] }
  if (calibratedAtMs === undefined)
    return {
      ...check,
      found: 0,
      state: 'not_run',
      message: 'The judge of this rule was never calibrated. Calibrate it.',
    }
  const found = Math.floor((nowMs - calibratedAtMs) / (24 * hourMs))
  const age = `The judge of this rule was calibrated ${counted(found, 'day')} ago`
  if (!isConsistent)
    return { ...check, found, state: 'failed', message: `${age} and contradicted itself. Choose another judge.` }
  const state = found <= days ? 'passed' : 'failed'
  const message = state === 'passed' ? `${age}.` : `${age}; ${counted(days, 'day')} are allowed. Calibrate it again.`
  return { ...check, found, state, message }
}

/** "20 of 1000 recorded requests would newly be denied: at most 2.9 %, where 0.5 % is allowed." */
const shareText = ({ found, of, limitBp, boundBp }: Share & { readonly boundBp: number }, what: string): string =>
  `${found} of ${of} ${what}: at most ${percent(boundBp)}, where ${percent(limitBp)} is allowed.`

/** Rules about personal data find nothing in a redacted text. */
const sampledText = (fromSample: number): string =>
  fromSample === 0
    ? ''
    : ` ${counted(fromSample, 'replayed request')} ${fromSample === 1 ? 'is' : 'are'} from the replay sample, without personal data.`

const percent = (basisPoints: number): string => `${basisPoints / 100} %`

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
