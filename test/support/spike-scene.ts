import { upperBoundBp } from '../../src/domain/gate/bound.ts'
import assert from 'node:assert/strict'
import { dayMs } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { decisionCounts } from '../../src/adapters/stores/sql/policies/decision-counts.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { createCelChecker } from '../../src/adapters/cel/cel.ts'
import { gatewayStore } from '../../src/adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import { createPolicyAdministration } from '../../src/domain/policy/mutations.ts'
import { spikeStores } from '../../src/app/features/policy-jobs.ts'
import { createStores } from '../../src/app/stores.ts'
import type { Decision } from '../../src/domain/evaluation/verdict/combine.ts'
import { createActOnSpike, type SpikeAction } from '../../src/domain/evaluation/spikes/act-on-spike.ts'
import type { DecisionCaller } from '../../src/domain/evaluation/spikes/active-callers.ts'
import { createSpikeMonitor } from '../../src/domain/evaluation/spikes/spike-monitor.ts'
import { defaultConfiguration } from '../../src/domain/gateway-config/configuration.ts'
import { createChanges } from '../../src/domain/mutations/changes.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import type { Actor } from '../../src/domain/mutations/audit-log.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'

const organizationId = 'org_1'
const person: Actor = { organizationId, kind: 'operator', credentialId: null, requestId: null }

type SentRequests = { readonly denials: number; readonly callerOf?: (at: number) => DecisionCaller }

const note = { publishedBy: 'adk_1', reason: null }

/** An empty organization. */
export async function prepareWatched(database: Database): Promise<void> {
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write([{ sql: insert, params: [organizationId] }])
}

/** One node with a denial-spike monitor and a manual clock. */
export async function openWatcher(database: Database, hand: HandClock = createHandClock()) {
  hand.advance(365 * dayMs) // minute 0 stands for no denial
  const { clock } = hand
  const ids = createIds(clock, systemRandom)
  const changes = createChanges(clock)
  const keyring = createKeyring({ current: 'a secret for tests' })
  const stores = createStores({ database, clock, random: systemRandom, ids, changes, keyring, dataDir: '' })
  const { reads, mutate } = stores.of((tx) => ({
    ...spikeStores(tx),
    policies: policyStore(tx),
    gateway: gatewayStore(tx),
    events: stores.eventsIn(tx),
  }))
  const policies = createPolicyAdministration({ ids, clock, checkExpression: createCelChecker() })
  const actions: SpikeAction[] = []
  const counts = decisionCounts(database, ids)
  const errors: unknown[] = []
  const open = () =>
    createSpikeMonitor({
      counts,
      actOnSpike: createActOnSpike({ reads, mutate, counts, clock, upperBoundBp }),
      clock,
      onSpike: (_monitored, action) => void actions.push(action),
      onError: (error) => errors.push(error),
    })
  let monitor = open()
  const policyOf = async (id: string) => {
    const policy = await reads.policies.find(organizationId, id)
    assert.ok(policy)
    return policy
  }
  const at = async (id: string) => ({ organizationId, id, revision: (await policyOf(id)).revision })

  return {
    hand,
    errors,
    policyOf,
    runMonitor: () => monitor.run(),
    /** What was done about spikes, oldest first. */
    actions,
    /** Sends requests, the first of which are denied, each from a key of its own unless a caller is given. */
    countDecisions(
      what: Pick<Decision, 'check' | 'policyId' | 'version'> & Partial<Decision>,
      requests: number,
      { denials, callerOf = (index) => ({ keyId: `key_${index}`, user: '' }) }: SentRequests,
    ): void {
      for (let count = 0; count < requests; count++) {
        const decision = count < denials ? 'refuse' : 'allow'
        const rest = { isEnforced: true, rolloutMode: 'enforced', reasonCode: 'R', triggeredCategories: [] } as const
        const decisions: Decision[] = [{ decision, effect: decision, ...rest, ...what }]
        monitor.count({ organizationId, caller: callerOf(count), decisions })
      }
    },
    async restart(): Promise<void> {
      await monitor[Symbol.asyncDispose]()
      monitor = open()
    },
    /** Creates an enforced policy at version 1. */
    async enforce(pauseOnSpike = true): Promise<string> {
      const input = { name: 'P', rule: 'cel: true', mode: 'enforcing', pauseOnSpike } as const
      const { id } = await mutate(person, ({ policies: store }) => policies.create(store, organizationId, input))
      const target = await at(id)
      await mutate(person, ({ policies: store }) => policies.publish(store, target, note))
      return id
    },
    async publishAnew(id: string): Promise<void> {
      const target = await at(id)
      await mutate(person, ({ policies: store }) => policies.update(store, target, { rule: 'cel: false' }))
      const next = await at(id)
      await mutate(person, ({ policies: store }) => policies.publish(store, next, note))
    },
    async resume(id: string): Promise<void> {
      const target = await at(id)
      await mutate(person, ({ policies: store }) => policies.resume(store, target))
    },
    /** Saves a configuration; returns its version. */
    async save(rollBackOnSpike: boolean): Promise<number> {
      const version = (await reads.gateway.find(organizationId))?.version ?? 0
      const rollout = { ...defaultConfiguration.rollout, rollback_on_spike: rollBackOnSpike }
      const config = { ...defaultConfiguration, rollout }
      const isSaved = await mutate(person, async ({ gateway }) => ({
        value: await gateway.save(organizationId, config, {
          id: ids('gwcv'),
          version,
          nowMs: clock.nowMs(),
          savedBy: 'adk_1',
        }),
      }))
      assert.ok(isSaved)
      return version + 1
    },
    isRolledBack: async () => (await reads.gateway.find(organizationId))?.isRolledBack,
    /** Audit records of automatic actions, oldest first. */
    async automaticActions() {
      const { items } = await reads.events.list(organizationId, {}, { limit: 100, order: 'asc' })
      return items
        .filter(({ document }) => document.unmapped.gatehouse['actor_type'] === 'system')
        .map(({ document, content }) => ({
          code: document.metadata.event_code,
          message: document.message,
          details: content?.details,
        }))
    },
    [Symbol.asyncDispose]: () => monitor[Symbol.asyncDispose](),
  }
}
