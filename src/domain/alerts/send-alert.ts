import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Alert, AlertContent, AlertStore } from './alert.ts'

/** What is sent, and by which channels: all of the organization if none are named. */
export type NewAlert = AlertContent & {
  readonly rule?: { readonly id: string; readonly name: string }
  readonly channelIds?: readonly string[]
}

/**
 * Sends an alert about something that begins. It is written in the transaction of the caller, so it is sent if and only if the
 * caller commits, at least once. A job sends it, so a channel that does not answer delays nobody.
 */
export type SendAlert = (alerts: AlertStore, organizationId: string, alert: NewAlert) => Promise<Alert>

export function createSendAlert({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }): SendAlert {
  return async (alerts, organizationId, { rule, channelIds, ...content }) => {
    const alert: Alert = {
      ...content,
      id: ids('alert'),
      organizationId,
      ruleId: rule?.id ?? null,
      ruleName: rule?.name ?? '',
      startedAtMs: clock.nowMs(),
      endedAtMs: null,
    }
    await alerts.insert(alert)
    await alerts.send(alert, 'fired', channelIds)
    return alert
  }
}
