import { alertStore } from '../../src/adapters/stores/sql/alerts/alerts.ts'
import { alertChannelStore } from '../../src/adapters/stores/sql/alerts/channels.ts'
import { episodeStore, episodeTransitions, takeEvaluationLease } from '../../src/adapters/stores/sql/alerts/episodes.ts'
import { alertOutbox } from '../../src/adapters/stores/sql/alerts/outbox.ts'
import { alertRuleStore, readActiveRules } from '../../src/adapters/stores/sql/alerts/rules.ts'
import { auditLogStore } from '../../src/adapters/stores/sql/audit/log.ts'
import { createChange } from '../../src/adapters/stores/sql/change.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { AlertChannel, SendResult } from '../../src/domain/alerts/channel.ts'
import type { Breach } from '../../src/domain/alerts/breach.ts'
import { createAlertSenders, type ClaimedMessage } from '../../src/domain/alerts/delivery.ts'
import { createAlertEvaluation } from '../../src/domain/alerts/evaluation.ts'
import type { AlertRule } from '../../src/domain/alerts/rule.ts'
import { createSendAlert } from '../../src/domain/alerts/send-alert.ts'
import { createAuditedMutation } from '../../src/domain/mutations/audited-mutation.ts'
import { createChanges } from '../../src/domain/mutations/changes.ts'
import { openAuditLog } from './audit-log.ts'

export const alertEncryption = createEncryption(new Uint8Array(32).fill(7), systemRandom)

export const breachOf = (subject = '', figure = 30): Breach => ({
  subject,
  title: 'Denials are over 20 %',
  text: '30 of 100 requests were denied.',
  figure,
  link: { page: 'requests', search: { status: 'denied' } },
})

/** Channels, rules and nodes of a database with the organizations `org_1` and `org_2`. A test says what breaches its rules. */
export async function openAlertScene(database: Database) {
  const { clock, events } = await openAuditLog(database)
  // The lease belongs to no organization, so that of an earlier test is still there.
  await database.write([{ sql: 'delete from alert_evaluation' }])
  const ids = createIds(clock, systemRandom)
  const storesIn = (tx: Transaction) => ({
    channels: alertChannelStore(tx, alertEncryption),
    rules: alertRuleStore(tx),
    alerts: alertStore(tx, { ids, clock }),
    episodes: episodeTransitions(tx),
    audit: auditLogStore(tx, events),
  })
  type SceneStores = ReturnType<typeof storesIn>
  const within = <T>(work: (stores: SceneStores) => Promise<T>): Promise<T> =>
    database.transaction((tx) => work(storesIn(tx)))
  const mutate = createAuditedMutation({
    change: createChange({ database, clock, changes: createChanges(clock), open: storesIn }),
    ids,
    clock,
  })
  const breaches = { now: [] as readonly Breach[] }
  return {
    clock,
    ids,
    within,
    breaches,
    sendAlert: createSendAlert({ ids, clock }),
    /** A node that evaluates and sends. `onSend` is the other side of its channels. */
    node(owner: string, onSend: (claimed: ClaimedMessage) => Promise<SendResult> = accept, leaseMs = 0) {
      const evaluate = createAlertEvaluation({
        takeLease: () => takeEvaluationLease(database, { owner, nowMs: clock.nowMs(), leaseMs }),
        activeRules: () => readActiveRules(database),
        openOrganization: async () => async () => breaches.now,
        states: episodeStore(database),
        mutate,
        sendAlert: createSendAlert({ ids, clock }),
        clock,
        onAlert: () => {},
      })
      const outbox = alertOutbox({ database, clock, encryption: alertEncryption, owner, leaseMs: 60_000 })
      const errors: unknown[] = []
      const { sendDue } = createAlertSenders({
        outbox,
        send: onSend,
        clock,
        random: { ...systemRandom, fraction: () => 1 },
        onAttempt: () => {},
        onError: (error) => errors.push(error),
      })
      return { evaluate, sendDue, outbox, errors }
    },
    async addChannel(channel: Partial<AlertChannel> = {}): Promise<AlertChannel> {
      const made: AlertChannel = {
        id: ids('chan'),
        organizationId: 'org_1',
        kind: 'webhook',
        name: 'On call',
        isPaused: false,
        config: { url: 'https://hooks.test', secret: '••••cdef' },
        version: 1,
        createdAtMs: clock.nowMs(),
        updatedAtMs: clock.nowMs(),
        ...channel,
      }
      await within(({ channels }) => channels.insert(made, { secret: 'the-secret-of-the-channel-abcdef' }))
      return made
    },
    async addRule(rule: Partial<AlertRule> = {}): Promise<AlertRule> {
      const made: AlertRule = {
        id: ids('rule'),
        organizationId: 'org_1',
        kind: 'denials',
        name: 'Many denials',
        threshold: 20.5,
        unit: 'percent',
        window: '15m',
        minRequests: 20,
        forMinutes: 1,
        filter: null,
        channelIds: [],
        isPaused: false,
        version: 1,
        createdAtMs: clock.nowMs(),
        updatedAtMs: clock.nowMs(),
        ...rule,
      }
      await within(({ rules }) => rules.insert(made))
      return made
    },
  }
}

export type AlertScene = Awaited<ReturnType<typeof openAlertScene>>

const accept = async (): Promise<SendResult> => ({ kind: 'sent', answer: 'The receiver answered 200.' })
