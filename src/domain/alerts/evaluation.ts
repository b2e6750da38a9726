import { minuteMs, type Clock } from '../../base/clock.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import type { Actor } from '../mutations/audit-log.ts'
import type { Alert, AlertEvent, AlertStore } from './alert.ts'
import type { Breach } from './breach.ts'
import { stepOf, type EpisodeState } from './episode.ts'
import type { AlertRule } from './rule.ts'
import type { SendAlert } from './send-alert.ts'

/** Changes of states in the transaction of the alert. Compare-and-set: of two nodes that do the same, one does. */
export type EpisodeTransitions = {
  /** Marks a pending subject as firing. False if it was not pending. */
  fire(rule: AlertRule, subject: string, alertId: string): Promise<boolean>
  /** Forgets a firing subject. False if it does not fire with this alert. */
  resolve(rule: AlertRule, subject: string, alertId: string): Promise<boolean>
}

/** The states of rules, outside of any transaction. */
export type EpisodeStore = {
  statesOf(rule: AlertRule): Promise<readonly EpisodeState[]>
  beginPending(rule: AlertRule, subject: string, atMs: number): Promise<void>
  /** Only if it is pending. */
  forget(rule: AlertRule, subject: string): Promise<void>
  /** Since when a firing rule does not apply; null if it applies again. */
  setClearing(rule: AlertRule, subject: string, sinceMs: number | null): Promise<void>
}

export type EvaluationStores = { readonly alerts: AlertStore; readonly episodes: EpisodeTransitions }

/** What a rule applies to now. */
export type FindBreaches = (rule: AlertRule) => Promise<readonly Breach[]>

export type AlertEvaluationParts = {
  /** Takes or extends the lease of the only node that evaluates. False if another node has it. */
  readonly takeLease: () => Promise<boolean>
  /** Rules of all organizations that are not paused, those of an organization together. */
  readonly activeRules: () => Promise<readonly AlertRule[]>
  /** Finds what rules of one organization apply to. Reads of one evaluation are shared by the rules. */
  readonly openOrganization: (organizationId: string) => Promise<FindBreaches | undefined>
  readonly states: EpisodeStore
  readonly mutate: AuditedMutation<EvaluationStores>
  readonly sendAlert: SendAlert
  readonly clock: Clock
  readonly onAlert: (alert: Pick<Alert, 'kind'>, event: AlertEvent) => void
}

/**
 * Evaluates every rule once. A job calls it each minute. A rule whose figures cannot be read keeps its state, because unknown is
 * not fine; the others are evaluated nevertheless, and the first error is thrown at the end.
 */
export function createAlertEvaluation(parts: AlertEvaluationParts): () => Promise<void> {
  const { takeLease, activeRules, openOrganization, states, clock } = parts
  return async () => {
    if (!(await takeLease())) return
    const errors: unknown[] = []
    const byOrganization = Map.groupBy(await activeRules(), ({ organizationId }) => organizationId)
    for (const [organizationId, rules] of byOrganization) {
      try {
        const breachesOf = await openOrganization(organizationId)
        for (const rule of breachesOf ? rules : [])
          await evaluateRule(rule, breachesOf).catch((error: unknown) => errors.push(error))
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  async function evaluateRule(rule: AlertRule, breachesOf: FindBreaches | undefined): Promise<void> {
    const breaches = (await breachesOf?.(rule)) ?? []
    const known = new Map((await states.statesOf(rule)).map((state) => [state.subject, state]))
    const breached = new Map(breaches.map((breach) => [breach.subject, breach]))
    for (const subject of new Set([...known.keys(), ...breached.keys()]))
      await evaluateSubject(rule, { subject, state: known.get(subject), breach: breached.get(subject) })
  }

  async function evaluateSubject(rule: AlertRule, { subject, state, breach }: Subject): Promise<void> {
    const nowMs = clock.nowMs()
    const step = stepOf(state, { applies: breach !== undefined, nowMs, forMs: rule.forMinutes * minuteMs })
    if (step === 'begin_pending') await states.beginPending(rule, subject, nowMs)
    if (step === 'forget') await states.forget(rule, subject)
    if (step === 'begin_clearing') await states.setClearing(rule, subject, nowMs)
    if (step === 'stop_clearing') await states.setClearing(rule, subject, null)
    if (step === 'fire' && breach) await fire(parts, rule, breach)
    if (step === 'resolve' && state?.alertId) await resolve(parts, rule, { subject, alertId: state.alertId })
  }
}

type Subject = {
  readonly subject: string
  readonly state: EpisodeState | undefined
  readonly breach: Breach | undefined
}

/** State, alert, outbox and audit event are one transaction, so none of them is there without the others. */
async function fire(
  { mutate, sendAlert, onAlert }: AlertEvaluationParts,
  rule: AlertRule,
  breach: Breach,
): Promise<void> {
  const { id, name, kind, threshold, unit, channelIds, organizationId } = rule
  const fired = await mutate(service(rule), async ({ alerts, episodes }) => {
    const content = { ...breach, kind, threshold, unit }
    const alert = await sendAlert(alerts, organizationId, { ...content, rule: { id, name }, channelIds })
    if (!(await episodes.fire(rule, breach.subject, alert.id))) throw new AlreadyDone()
    return { value: true, record: recordOf('alert.fired', alert) }
  }).catch(falseIfDone)
  if (fired) onAlert({ kind }, 'fired')
}

type Ending = { readonly subject: string; readonly alertId: string }

async function resolve(parts: AlertEvaluationParts, rule: AlertRule, { subject, alertId }: Ending): Promise<void> {
  const { organizationId, kind } = rule
  const resolved = await parts.mutate(service(rule), async ({ alerts, episodes }) => {
    if (!(await episodes.resolve(rule, subject, alertId))) return { value: false }
    const nowMs = parts.clock.nowMs()
    const alert = await alerts.find(organizationId, alertId)
    if (!alert || !(await alerts.end(alert, nowMs))) return { value: false }
    const ended: Alert = { ...alert, endedAtMs: nowMs }
    await alerts.send(ended, 'resolved', rule.channelIds)
    return { value: true, record: recordOf('alert.resolved', ended) }
  })
  if (resolved) parts.onAlert({ kind }, 'resolved')
}

/** Rolls the transaction back: another node has sent the alert, or the rule is gone. */
class AlreadyDone extends Error {}

const falseIfDone = (error: unknown): false => {
  if (error instanceof AlreadyDone) return false
  throw error
}

const service = ({ organizationId }: AlertRule): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})

const recordOf = (kind: 'alert.fired' | 'alert.resolved', alert: Alert) => ({
  kind,
  resourceId: alert.id,
  details: {
    rule_id: alert.ruleId,
    rule_name: alert.ruleName,
    kind: alert.kind,
    subject: alert.subject,
    title: alert.title,
    figure: alert.figure,
    threshold: alert.threshold,
  },
})
