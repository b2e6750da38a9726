import { toUnixSeconds } from '../../../base/clock.ts'
import type { AlertStore, WatchedAlert } from '../../../domain/alerts/alert.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { AlertList, AlertQuery, type AlertBody } from './alert-schema.ts'

/** `/v1/organization/alerts`: what was sent, and what became of it. */
export const alertListRoute = ({ read }: AdminReads<{ readonly alerts: Pick<AlertStore, 'list'> }>): Route =>
  read({
    name: 'listAlerts',
    path: '/v1/organization/alerts',
    summary: 'List alerts',
    description: 'Alerts that last, and those that began in the last 90 days, each with its messages.',
    permission: 'alerts:read',
    params: none,
    query: AlertQuery,
    answer: { description: 'A page of alerts.', schema: AlertList },
    async operation({ alerts }, { actor, query }) {
      const { state, rule_id: ruleId } = query
      const page = {
        ...pageOf(query),
        ...(state !== undefined && { isFiring: state === 'firing' }),
        ...(ruleId !== undefined && { ruleId }),
      }
      return presentList(await alerts.list(actor.organization.id, page), presentAlert)
    },
  })

const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : toUnixSeconds(ms))

const presentAlert = ({ deliveries, ...alert }: WatchedAlert): AlertBody => ({
  id: alert.id,
  object: 'organization.alert',
  kind: alert.kind,
  rule_id: alert.ruleId,
  rule_name: alert.ruleName,
  subject: alert.subject === '' ? null : alert.subject,
  title: alert.title,
  text: alert.text,
  figure: alert.figure,
  threshold: alert.threshold,
  unit: alert.unit,
  started_at: toUnixSeconds(alert.startedAtMs),
  ended_at: secondsOrNull(alert.endedAtMs),
  deliveries: deliveries.map((delivery) => ({
    id: delivery.id,
    channel_id: delivery.channelId,
    event: delivery.event,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: secondsOrNull(delivery.nextAttemptAtMs),
    last_error: delivery.lastError,
    ended_at: secondsOrNull(delivery.endedAtMs),
  })),
})
