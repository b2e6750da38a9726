import { assertWhole, rejectedScopes } from '../../../domain/limits/admission.ts'
import type { AdmissionRequest, LimitSettings, Subject } from '../../../domain/limits/admission.ts'
import { metrics, limitScopes, type Limits, type LimitScope } from '../../../domain/limits/scopes.ts'
import { LimitStoreError, type SharedLimitStore } from '../../../domain/limits/store.ts'
import type { LimitUsage } from '../../../domain/limits/usage.ts'
import type { RedisConnection } from './connection.ts'
import { readAccounts, readContribution, readGrantResult, readNodes, readAdmission } from './replies.ts'
import { runScript } from './scripts.ts'

export type RedisLimitStoreOptions = {
  readonly connection: RedisConnection
  readonly settings: LimitSettings
  /** Replaces the server's clock, in tests only. */
  readonly nowMs?: () => number
}

/** Per script, because the server serves nobody else meanwhile. */
const maxRenewals = 500

/** The counters in Redis, shared by all nodes: the engine's arithmetic as Lua scripts. */
export function createRedisLimitStore({ connection, settings, nowMs }: RedisLimitStoreOptions): SharedLimitStore {
  const incarnations = createIncarnations(connection)
  const time = (): string | number => nowMs?.() ?? ''
  const rules = [settings.leaseMs, settings.holdMs, rejectedScopes[settings.countRejectedIn]]
  const rulesJson = (limits: Limits): string => JSON.stringify([...limitsAsList(limits), ...rules])

  return {
    async admit(request) {
      const epoch = epochOf(connection)
      const incarnation = incarnations.of(request.organization)
      const { organization, project, key, limits } = request
      const args = [time(), epoch, incarnation, project, key, ...demandArgs(request), rulesJson(limits)]
      const keys = [...keysOf(organization), ...ringKeysOf(request), sliceKeyOf(organization)]
      return readAdmission(request, epoch, await runScript(connection, 'admit', { keys, args }))
    },

    async contribute({ use, node, number, isAll }) {
      const { organization } = use
      const knownIncarnation = isAll ? '' : incarnations.of(organization)
      if (!isAll && knownIncarnation === '') return 'forgotten'
      const args = [
        time(),
        epochOf(connection),
        knownIncarnation,
        node,
        number,
        settings.leaseMs,
        settings.holdMs,
        asJson(use),
      ]
      const keys = [
        ...keysOf(organization),
        `rl2:{${organization}}:c`,
        ...use.scopes.map(({ scope, id }) => ringKeyOf(organization, scope, id)),
      ]
      const reply = await runScript(connection, 'contribute', { keys, args })
      const { result, incarnation } = readContribution(reply)
      incarnations.set(organization, incarnation)
      return result
    },

    async register(node, hasContributed) {
      const keys = [`rl2:nodes:${epochOf(connection)}`]
      return readNodes(await runScript(connection, 'register', { keys, args: [node, hasContributed ? 1 : 0] }))
    },

    async settle(settlement) {
      const { organization, project, key, requestId, tokens, micro } = settlement
      assertWhole(tokens, micro)
      const args = [time(), project, key, requestId, tokens, micro]
      const keys = [...keysOf(organization), ...ringKeysOf(settlement), sliceKeyOf(organization)]
      const reply = await runScript(connection, 'settle', { keys, args })
      return reply === 'settled' ? 'settled' : 'gone'
    },

    async leave({ organization, requestId }) {
      await runScript(connection, 'leave', { keys: keysOf(organization), args: [requestId] })
    },

    async renew(renewals) {
      const byOrganization = Map.groupBy(renewals, ({ organization }) => organization)
      const runs = Array.from(byOrganization, async ([organization, own]) => {
        const keys = keysOf(organization)
        for (let at = 0; at < own.length; at += maxRenewals) {
          const ids = own.slice(at, at + maxRenewals).map(({ requestId }) => requestId)
          await runScript(connection, 'renew', { keys, args: [time(), settings.leaseMs, ...ids] })
        }
      })
      await Promise.all(runs)
    },

    async grant({ organization, epoch, sliceId, amountMicro, opens }) {
      assertWhole(amountMicro)
      if (epoch !== epochOf(connection)) return 'stale'
      const call = { keys: [sliceKeyOf(organization)], args: [epoch, sliceId, amountMicro, opens ? 1 : 0] }
      return readGrantResult(await runScript(connection, 'grant', call))
    },

    async close({ organization, epoch, sliceId }) {
      await runScript(connection, 'close', { keys: [sliceKeyOf(organization)], args: [epoch, sliceId] })
      return 'closed'
    },

    async accounts(organization) {
      const keys = [...keysOf(organization), sliceKeyOf(organization)]
      const reply = await runScript(connection, 'accounts', { keys, args: [time()] })
      return readAccounts(organization, reply)
    },

    async probe() {
      epochOf(connection)
      await runScript(connection, 'probe', { keys: ['rl2:probe'], args: [] })
    },
  }
}

function epochOf(connection: RedisConnection): string {
  const epoch = connection.epoch()
  if (epoch === null) throw new LimitStoreError('unreachable', 'no connection to Redis')
  return epoch
}

/**
 * The slice has kept its key since the previous layout, so that nodes of both versions spend from one slice during a rolling
 * upgrade.
 */
const sliceKeyOf = (organization: string): string => `rl1:{${organization}}:cr`

/**
 * In the order of `organization.lua`. The tag in braces keeps all keys of an organization on one shard; the prefix names the
 * layout of the data.
 */
const keysOf = (organization: string): string[] => {
  const state = `rl2:{${organization}}`
  return [state, `${state}:l`]
}

const fieldOf = (scope: LimitScope, id: string): string =>
  ({ key: `k:${id}`, project: `p:${id}`, organization: 'o' })[scope]

const ringKeyOf = (organization: string, scope: LimitScope, id: string): string =>
  `rl2:{${organization}}:${fieldOf(scope, id)}`

const ringKeysOf = (subject: Subject): string[] =>
  limitScopes.map((scope) => ringKeyOf(subject.organization, scope, subject[scope]))

const asJson = ({ scopes: used, running }: LimitUsage): string =>
  JSON.stringify({
    scopes: used.map(({ scope, id, minute, day }) => ({ field: fieldOf(scope, id), minute, day })),
    running: running.map((request) => [
      request.requestId,
      request.tokens,
      request.admittedAtMs,
      request.project,
      request.key,
    ]),
  })

const maxIncarnations = 100_000

/** For each organization, the incarnation of its state that this node has contributed to, in this run of the server. */
function createIncarnations(connection: RedisConnection) {
  const incarnations = new Map<string, string>()
  let epoch: string | null = null
  const current = (): Map<string, string> => {
    if (epoch !== connection.epoch()) {
      epoch = connection.epoch()
      incarnations.clear()
    }
    return incarnations
  }
  return {
    of: (organization: string): string => current().get(organization) ?? '',
    set(organization: string, incarnation: string): void {
      if (incarnations.size >= maxIncarnations) incarnations.clear()
      current().set(organization, incarnation)
    },
  }
}

const limitsAsList = (limits: Limits): number[] =>
  limitScopes.flatMap((scope) => metrics.map((metric) => limits[scope][metric]))

function demandArgs(request: AdmissionRequest): (string | number)[] {
  if (request.mode === 'count') return ['count', '', 0, '']
  const { mode, requestId, tokens, micro } = request
  assertWhole(tokens, micro ?? 0)
  return [mode, requestId, tokens, micro ?? '']
}
