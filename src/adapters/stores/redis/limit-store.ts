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

/** The counters in Redis, shared by all nodes: the engine's arithmetic as Lua scripts. */
export function createRedisLimitStore({ connection, settings, nowMs }: RedisLimitStoreOptions): SharedLimitStore {
  const incarnations = createIncarnations(connection)
  const time = (): string | number => nowMs?.() ?? ''
  const rules = [settings.leaseMs, settings.holdMs, rejectedScopes[settings.countRejectedIn]]

  return {
    async admit(request) {
      const epoch = epochOf(connection)
      const incarnation = incarnations.of(request.organization)
      const keys = [...keysOf(request), key(request.organization, 'i')]
      const args = [time(), epoch, ...rules, ...limitsAsList(request.limits), ...demandArgs(request), incarnation]
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
      const reply = await runScript(connection, 'contribute', { keys: contributionKeysOf(use), args })
      const { result, incarnation } = readContribution(reply)
      incarnations.set(organization, incarnation)
      return result
    },

    async register(node, hasContributed) {
      const keys = [`rl1:nodes:${epochOf(connection)}`]
      return readNodes(await runScript(connection, 'register', { keys, args: [node, hasContributed ? 1 : 0] }))
    },

    async settle(settlement) {
      const { requestId, tokens, micro } = settlement
      assertWhole(tokens, micro)
      const args = [time(), requestId, tokens, micro]
      const reply = await runScript(connection, 'settle', { keys: keysOf(settlement), args })
      return reply === 'settled' ? 'settled' : 'gone'
    },

    async leave(request) {
      await runScript(connection, 'leave', { keys: leaseKeysOf(request), args: [request.requestId] })
    },

    async renew(renewals) {
      const byOrganization = Map.groupBy(renewals, ({ organization }) => organization)
      const runs = Array.from(byOrganization, ([organization, own]) => {
        const keys = [key(organization, 'o'), key(organization, 'hx'), ...own.flatMap(leaseKeysOf)]
        const args = [time(), settings.leaseMs, ...own.map(({ requestId }) => requestId)]
        return runScript(connection, 'renew', { keys, args })
      })
      await Promise.all(runs)
    },

    async grant({ organization, epoch, sliceId, amountMicro, opens }) {
      assertWhole(amountMicro)
      if (epoch !== epochOf(connection)) return 'stale'
      const call = { keys: [key(organization, 'cr')], args: [epoch, sliceId, amountMicro, opens ? 1 : 0] }
      return readGrantResult(await runScript(connection, 'grant', call))
    },

    async close({ organization, epoch, sliceId }) {
      await runScript(connection, 'close', { keys: [key(organization, 'cr')], args: [epoch, sliceId] })
      return 'closed'
    },

    async accounts(organization) {
      const keys = ['o', 'cr', 'h', 'hx'].map((part) => key(organization, part))
      return readAccounts(organization, await runScript(connection, 'accounts', { keys, args: [time()] }))
    },

    /** Sends a write that changes nothing, because a server that only answers reads, such as a replica, does not count as available. */
    async probe() {
      epochOf(connection)
      await runScript(connection, 'leave', { keys: leaseKeysOf(probeSubject), args: [''] })
    },
  }
}

const probeSubject: Subject = { organization: 'probe', project: '', key: '' }

function epochOf(connection: RedisConnection): string {
  const epoch = connection.epoch()
  if (epoch === null) throw new LimitStoreError('unreachable', 'no connection to Redis')
  return epoch
}

/** The tag in braces keeps all keys of an organization on one shard; the prefix names the layout of the data. */
const key = (organization: string, part: string): string => `rl1:{${organization}}:${part}`

const leaseKeysOf = ({ organization, project, key: id }: Subject): string[] => [
  key(organization, `zk:${id}`),
  key(organization, `zp:${project}`),
  key(organization, 'zo'),
]

/** In the order that the scripts expect. */
const keysOf = (subject: Subject): string[] => {
  const { organization, project, key: id } = subject
  const states = [key(organization, `k:${id}`), key(organization, `p:${project}`), key(organization, 'o')]
  const credits = [key(organization, 'cr'), key(organization, 'h'), key(organization, 'hx')]
  return [...states, ...leaseKeysOf(subject), ...credits]
}

const stateKeyOf = (organization: string, scope: LimitScope, id: string): string =>
  key(organization, { key: `k:${id}`, project: `p:${id}`, organization: 'o' }[scope])

/** In the order of `contribute.lua`. */
const contributionKeysOf = ({ organization, scopes: used, running }: LimitUsage): string[] => [
  ...['o', 'i', 'c', 'h', 'hx'].map((part) => key(organization, part)),
  ...used.map(({ scope, id }) => stateKeyOf(organization, scope, id)),
  ...running.flatMap((request) => leaseKeysOf({ organization, ...request })),
]

const asJson = ({ scopes: used, running }: LimitUsage): string =>
  JSON.stringify({
    scopes: used.map(({ minute, day }) => ({ minute, day })),
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
  if (request.mode === 'count') return ['count', '', 0, '', request.project, request.key]
  const { mode, requestId, tokens, micro, project, key: id } = request
  assertWhole(tokens, micro ?? 0)
  return [mode, requestId, tokens, micro ?? '', project, id]
}
