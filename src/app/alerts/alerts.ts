import { createMailSender } from '../../adapters/alerts/mail-channel.ts'
import { createSlackSender, createWebhookSender } from '../../adapters/alerts/http-channel.ts'
import { alertChannelStore } from '../../adapters/stores/sql/alerts/channels.ts'
import { removeOldAlerts } from '../../adapters/stores/sql/alerts/alerts.ts'
import { removeFailingUpstreams } from '../../adapters/stores/sql/alerts/failing-upstreams.ts'
import { alertOutbox, releaseAlertLeases } from '../../adapters/stores/sql/alerts/outbox.ts'
import { dayMs, minuteMs } from '../../base/clock.ts'
import { alertEvents } from '../../domain/alerts/alert.ts'
import { channelKinds, type ChannelKindName, type SendMessage } from '../../domain/alerts/channel.ts'
import { createAlertSenders, giveUpAfterMs } from '../../domain/alerts/delivery.ts'
import { createAlertEvaluation } from '../../domain/alerts/evaluation.ts'
import { ruleKinds } from '../../domain/alerts/rule.ts'
import { createChannelTest, type ChannelTest, type SendByChannel } from '../../domain/alerts/test-channel.ts'
import type { Upstreams } from '../../domain/inference/upstream-status.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { createSinkAddressRules } from '../sink-addresses.ts'
import type { Stores } from '../stores.ts'
import { evaluationParts } from './evaluation.ts'
import { alertUrl } from './links.ts'
import { mailSettings } from './mail.ts'

/** Longer than the longest attempt: a mail takes at most three times `mail.timeout_ms`. */
const deliveryLeaseMs = minuteMs

/** Evaluates alert rules and sends alerts until the app is closed. Returns the test of a channel. */
export async function openAlerts(
  infrastructure: Infrastructure,
  stores: Stores,
  { upstreams }: { readonly upstreams: Pick<Upstreams, 'list'> },
): Promise<{ readonly testChannel: ChannelTest }> {
  const { built, database, clock, random, ids, log, metrics, jobs, warn } = infrastructure
  if (database.engine === 'sqlite') await releaseAlertLeases(database)
  const send = createSend(infrastructure)
  const encryption = stores.encryptions.alertSecrets
  const fired = metrics.counter('gatehouse_alerts_total', 'Alerts that began or ended, by kind of rule.', {
    kind: ruleKinds,
    event: alertEvents.filter((event) => event !== 'test'),
  })
  const attempts = metrics.counter(
    'gatehouse_alert_messages_total',
    'Attempts to send a message about an alert, by result.',
    {
      channel: channelKinds,
      result: ['sent', 'failed', 'given_up'],
    },
  )
  const senders = built.use(
    createAlertSenders({
      outbox: alertOutbox({ database, clock, encryption, owner: ids('node'), leaseMs: deliveryLeaseMs }),
      send: ({ channel, message }, signal) =>
        send({ kind: channel.kind, config: channel.openConfig() }, message, signal),
      clock,
      random,
      onAttempt({ channel, deliveryId }, { state }, result) {
        attempts.add({ channel: channel.kind, result: state === 'waiting' ? 'failed' : state })
        // Network errors of a destination are only logged, because tenants must not see them.
        if (result.kind === 'failed')
          log.info({ message: deliveryId, error: String(result.cause ?? result.answer) }, 'an alert was not sent')
      },
      onError: (error, deliveryId) => log.warn({ message: deliveryId, error: String(error) }, 'an alert failed'),
    }),
  )
  const { evaluation, reportUpstreams } = evaluationParts(infrastructure, stores)
  const evaluate = createAlertEvaluation({ ...evaluation, onAlert: ({ kind }, event) => fired.add({ kind, event }) })
  built.use(
    jobs.start('evaluate-alert-rules', async () => {
      await reportUpstreams(upstreams.list()).catch(warn('the failing upstreams of this node could not be written'))
      await evaluate()
    }),
  )
  built.use(jobs.start('send-alerts', senders.startDue))
  built.use(jobs.start('remove-old-alerts', () => removeOld(infrastructure)))
  const channels = alertChannelStore(stores.reading, encryption)
  return { testChannel: createChannelTest({ channels, send, ids, clock }) }
}

const keptMs = 90 * dayMs

async function removeOld({ database, clock }: Infrastructure): Promise<void> {
  const nowMs = clock.nowMs()
  await removeOldAlerts(database, { beforeMs: nowMs - keptMs, giveUpMs: nowMs - giveUpAfterMs, nowMs })
  await removeFailingUpstreams(database, nowMs - dayMs)
}

/** Sends a message by any kind of channel, with the address of its page of the console. */
function createSend(infrastructure: Infrastructure): SendByChannel {
  const { config, clock, network } = infrastructure
  const http = { guard: createSinkAddressRules(config.exports).guard, clock, network }
  const mail = mailSettings(infrastructure)
  const senders: Record<ChannelKindName, (config: unknown) => SendMessage> = {
    webhook: createWebhookSender(http),
    slack: createSlackSender(http),
    email: mail === undefined ? () => noMail : createMailSender(mail),
  }
  return (channel, message, signal) =>
    senders[channel.kind](channel.config)({ ...message, url: alertUrl(config, message.link) }, signal)
}

/** The mail server was removed from the configuration after the channel was created. */
const noMail: SendMessage = async () => ({
  kind: 'failed',
  answer: 'This installation sends no mail. The operator has to set mail.smtp_url.',
})
