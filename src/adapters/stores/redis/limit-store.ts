import { assertWhole, rejectedScopes } from '../../../domain/limits/admission.ts'
import type { AdmissionRequest, Demand, LimitSettings, Subject } from '../../../domain/limits/admission.ts'
import { metrics, limitScopes, type Limits, type LimitScope } from '../../../domain/limits/scopes.ts'
import { LimitStoreError, type SharedLimitStore } from '../../../domain/limits/store.ts'
import type { LimitUsage } from '../../../domain/limits/usage.ts'
import type { RedisConnection, RedisShards } from './connection.ts'
import { readAccounts, readContribution, readGrantResult, readNodes, readNumbers, readAdmission } from './replies.ts'
import { isMoved, runScript, type ScriptCall, type ScriptName } from './scripts.ts'

export type RedisLimitStoreOptions = {
  readonly connection: RedisShards
  readonly settings: LimitSettings
  /** Replaces the server's clock, in tests only. */
  readonly nowMs?: () => number
}

/** Per script, because the server serves nobody else meanwhile. */
const maxRenewals = 500

/** The counters in Redis, shared by all nodes: the engine's arithmetic as Lua scripts. */
export function createRedisLimitStore({ connection, settings, nowMs }: RedisLimitStoreOptions): SharedLimitStore {
  const incarnations = createIncarnations()
  const time = (): string | number => nowMs?.() ?? ''
  const rules = [settings.leaseMs, settings.holdMs, rejectedScopes[settings.countRejectedIn]]

  /** Runs work on the server with the organization's keys, and once more if they have moved: then nothing was executed. */
  async function onShard<T>(organization: string, work: (shard: Shard) => Promise<T>): Promise<T> {
    try {
      return await work(shardOf(connection, organization))
    } catch (error) {
      if (!isMoved(error)) throw error
      await connection.refresh()
      return work(shardOf(connection, organization))
    }
  }
  const runFor = (organization: string, name: ScriptName, call: ScriptCall): Promise<unknown> =>
    onShard(organization, ({ run }) => run(name, call))

  return {
    admit: (request) =>
      onShard(request.organization, async ({ epoch, run }) => {
        const { organization } = request
        const args = [time(), epoch, incarnations.of(organization, epoch), ...demandOf(request, rules)]
        return readAdmission(request, epoch, await run('admit', { keys: requestKeysOf(request), args }))
      }),

    contribute: ({ use, node, number, isAll }) =>
      onShard(use.organization, async ({ epoch, run }) => {
        const { organization } = use
        const known = isAll ? '' : incarnations.of(organization, epoch)
        if (!isAll && known === '') return 'forgotten'
        const args = [time(), epoch, known, node, number, settings.leaseMs, settings.holdMs, asJson(use)]
        const { result, incarnation } = readContribution(
          await run('contribute', { keys: contributionKeysOf(use), args }),
        )
        incarnations.set(organization, epoch, incarnation)
        return result
      }),

    /** A node is on the list if it is on that of every server, because each may lose its data alone. */
    async register(node, hasContributed) {
      await connection.refresh()
      const lists = await Promise.all(
        shardsOf(connection).map(async ({ run, epoch, tag }) => {
          const keys = [`rl2:nodes:{${tag}}:${epoch}`]
          return readNodes(await run('register', { keys, args: [node, hasContributed ? 1 : 0] }))
        }),
      )
      return (lists[0] ?? []).filter((id) => lists.every((list) => list.includes(id)))
    },

    async settle(settlement) {
      const { organization, project, key, requestId, tokens, micro, budgets, isLate } = settlement
      assertWhole(tokens, micro)
      const used = asNamed((budgets ?? []).map(({ counter, amount }) => [counter, amount, 0, 0]))
      const args = [time(), project, key, requestId, tokens, micro, budgets === undefined || isLate ? '0' : '1', used]
      const keys = requestKeysOf(settlement)
      return (await runFor(organization, 'settle', { keys, args })) === 'settled' ? 'settled' : 'gone'
    },

    async leave({ organization, requestId }) {
      await runFor(organization, 'leave', { keys: keysOf(organization), args: [requestId] })
    },

    async renew(renewals) {
      const byOrganization = Map.groupBy(renewals, ({ organization }) => organization)
      const runs = Array.from(byOrganization, async ([organization, own]) => {
        const keys = keysOf(organization)
        for (let at = 0; at < own.length; at += maxRenewals) {
          const ids = own.slice(at, at + maxRenewals).map(({ requestId }) => requestId)
          await runFor(organization, 'renew', { keys, args: [time(), settings.leaseMs, ...ids] })
        }
      })
      await Promise.all(runs)
    },

    async grant({ organization, epoch, sliceId, amountMicro, opens }) {
      assertWhole(amountMicro)
      const call = { keys: [sliceKeyOf(organization)], args: [epoch, sliceId, amountMicro, opens ? 1 : 0] }
      return onShard(organization, async (shard) =>
        epoch === shard.epoch ? readGrantResult(await shard.run('grant', call)) : 'stale',
      )
    },

    async close({ organization, epoch, sliceId }) {
      await runFor(organization, 'close', { keys: [sliceKeyOf(organization)], args: [epoch, sliceId] })
      return 'closed'
    },

    async countBudgets({ organization, epoch, token, counters }) {
      const named = asNamed(
        counters.map(({ counter, spent, expiresAtMs, phase }) => [counter, spent ?? -1, expiresAtMs, phase]),
      )
      const call = { keys: [budgetKeyOf(organization)], args: [time(), token, named] }
      await onShard(organization, async (shard) =>
        epoch === shard.epoch ? shard.run('countBudgets', call) : undefined,
      )
    },

    heldBudgets: async (organization, counters) =>
      readNumbers(await runFor(organization, 'heldBudgets', countersCall(organization, counters))),

    async accounts(organization) {
      const keys = [...keysOf(organization), sliceKeyOf(organization)]
      return readAccounts(organization, await runFor(organization, 'accounts', { keys, args: [time()] }))
    },

    async probe() {
      await connection.refresh()
      await Promise.all(
        shardsOf(connection).map(({ run, tag }) => run('probe', { keys: [`rl2:probe:{${tag}}`], args: [] })),
      )
    },
  }
}

const countersCall = (organization: string, counters: readonly string[]): ScriptCall => ({
  keys: [budgetKeyOf(organization)],
  args: [asNamed(counters.map((counter) => [counter, 0, 0, 0]))],
})

/** The arguments of `admit.lua` after the incarnation. */
function demandOf(request: AdmissionRequest, rules: readonly number[]): (string | Buffer)[] {
  const { project, key, limits, mode } = request
  const demand = mode === 'count' ? { requestId: '', tokens: 0, micro: null } : request
  const { requestId, tokens, micro, budgets = [] }: Demand = demand
  assertWhole(tokens, micro ?? 0, ...budgets.map(({ amount }) => amount))
  const numbers = asDoubles([...limitsAsList(limits), ...rules, tokens, micro ?? -1])
  const demands = asNamed(budgets.map(({ counter, amount, limit, phase }) => [counter, amount, limit, phase]))
  return [project, key, mode, requestId, numbers, demands]
}

/** A connected server. */
type Shard = { readonly epoch: string; readonly run: (name: ScriptName, call: ScriptCall) => Promise<unknown> }

function shardOf(connection: RedisShards, organization: string): Shard {
  return asShard(connection.shardOf(organization))
}

function asShard(server: RedisConnection | undefined): Shard {
  const epoch = server?.epoch() ?? null
  if (server === undefined || epoch === null) throw new LimitStoreError('unreachable', 'no connection to Redis')
  return { epoch, run: (name, call) => runScript(server, name, call) }
}

const shardsOf = (connection: RedisShards): (Shard & { readonly tag: string })[] =>
  connection.shards().map(({ connection: server, tag }) => ({ ...asShard(server), tag }))

/**
 * The slice has kept its key since the previous layout, so that nodes of both versions spend from one slice during a rolling
 * upgrade.
 */
const sliceKeyOf = (organization: string): string => `rl1:{${organization}}:cr`

const budgetKeyOf = (organization: string): string => `rl2:{${organization}}:b`

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

/** In the order of `admit.lua` and `settle.lua`. */
const requestKeysOf = (subject: Subject): string[] => [
  ...keysOf(subject.organization),
  ...ringKeysOf(subject),
  sliceKeyOf(subject.organization),
  budgetKeyOf(subject.organization),
]

/** In the order of `contribute.lua`. */
const contributionKeysOf = ({ organization, scopes: used }: LimitUsage): string[] => [
  ...keysOf(organization),
  `rl2:{${organization}}:c`,
  budgetKeyOf(organization),
  ...used.map(({ scope, id }) => ringKeyOf(organization, scope, id)),
]

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

/** For each organization, the incarnation of its state that this node has contributed to, and the epoch of its server. */
function createIncarnations() {
  const known = new Map<string, { readonly epoch: string; readonly incarnation: string }>()
  return {
    of(organization: string, epoch: string): string {
      const last = known.get(organization)
      return last?.epoch === epoch ? last.incarnation : ''
    },
    set(organization: string, epoch: string, incarnation: string): void {
      if (known.size >= maxIncarnations) known.clear()
      known.set(organization, { epoch, incarnation })
    },
  }
}

const limitsAsList = (limits: Limits): number[] =>
  limitScopes.flatMap((scope) => metrics.map((metric) => limits[scope][metric]))

/** Much cheaper for a script to read than text. */
function asDoubles(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * 8)
  for (const [at, number] of numbers.entries()) bytes.writeDoubleLE(number, at * 8)
  return bytes
}

/** Names and three numbers each, as `budgets.lua` reads them. */
function asNamed(
  list: readonly (readonly [name: string, first: number, second: number, third: number])[],
): Buffer | string {
  if (list.length === 0) return ''
  return Buffer.concat(list.flatMap(([name, ...numbers]) => [Buffer.from(`${name}\0`), asDoubles(numbers)]))
}
