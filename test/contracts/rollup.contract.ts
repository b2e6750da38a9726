import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { ledgerReports } from '../../src/adapters/stores/sql/credits/reports.ts'
import type { Database, Value } from '../../src/adapters/stores/sql/database.ts'
import { decisionCounts } from '../../src/adapters/stores/sql/policies/decision-counts.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { trimRollup } from '../../src/adapters/stores/sql/rollup/trim.ts'
import type { AuditEvent } from '../../src/domain/audit/event/event.ts'
import type { Tags } from '../../src/domain/costs/tags.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import { wholePeriodMs } from '../../src/domain/credits/reports.ts'
import type { MinuteCount } from '../../src/domain/evaluation/spikes/decision-counts.ts'
import { openAuditLog, requestFacts, setClock } from '../support/audit-log.ts'
import { chargeOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'

const startMs = Date.UTC(2026, 0, 1, 22, 58)
const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const organizations = ['org_1', 'org_2']

const organizationId = fc.constantFrom(...organizations)
const minute = fc.nat(90)

const dayMinutes = 1_440
const charge = fc.record({
  organizationId,
  request: fc.nat(12),
  minute: fc.tuple(minute, fc.nat(20)).map(([at, days]) => at + days * dayMinutes),
  keyId: fc.constantFrom('key_1', 'key_2'),
  userId: fc.constantFrom('ada', 'a"b\\', undefined),
  outcome: fc.constantFrom('answered' as const, 'aborted' as const, 'orphaned' as const),
  micro: fc.nat(9),
  isMetered: fc.boolean(),
  tags: fc.constantFrom({ team: 'red' }, { team: 'a,b', env: '%' }, undefined),
})
const request = fc.record({
  minute,
  keyId: fc.constantFrom('key_1', undefined),
  model: fc.constantFrom('a', 'b'),
  decision: fc.constantFrom('allow' as const, 'refuse' as const),
  failure: fc.constantFrom(undefined, 'upstream_timeout', 'rate_limit_exceeded', 'model_not_found'),
  latencyMs: fc.constantFrom(3, 25, 700, 90_000),
  outputTokens: fc.nat(50),
})
const count = fc.record({
  organizationId,
  subject: fc.constantFrom('pol_1', 'gateway'),
  version: fc.constantFrom(1, 2),
  minute,
  requests: fc.nat(5),
  denials: fc.nat(5),
  recordedRequests: fc.nat(5),
  recordedDenials: fc.nat(5),
})
const step = fc.oneof(
  fc.record({ do: fc.constant('settle' as const), charges: fc.array(charge, { minLength: 1, maxLength: 6 }) }),
  fc.record({
    do: fc.constant('append' as const),
    organizationId,
    requests: fc.array(request, { minLength: 1, maxLength: 4 }),
    isRepeated: fc.boolean(),
  }),
  fc.record({ do: fc.constant('count' as const), counts: fc.array(count, { minLength: 1, maxLength: 4 }) }),
  fc.record({ do: fc.constant('fold' as const), nodes: fc.integer({ min: 1, max: 3 }) }),
)

/** Minutes after the start, and the days that have passed since then. Some periods start or end in an hour with charges. */
const periodEdge = fc
  .tuple(fc.integer({ min: -90, max: 180 }), fc.integer({ min: -1, max: 21 }))
  .map(([at, days]) => startMs + (at + days * dayMinutes) * minuteMs)
const period = fc
  .record({ one: periodEdge, other: periodEdge, bucketMs: fc.constantFrom(wholePeriodMs, dayMs, dayMs / 24) })
  .map(({ one, other, bucketMs }) => ({ fromMs: Math.min(one, other), toMs: Math.max(one, other) + 1, bucketMs }))
const readings = fc.record({ daysLater: fc.nat(29), periods: fc.array(period, { maxLength: 8 }) })

/** The contract of the sums that every report reads. */
export function rollupContract({ name, skip, open }: Engine): void {
  describe(`rollup: ${name}`, { skip }, () => {
    it('equals a naive sum of all items at every step, folded by any node at any time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          await using scene = await openScene(open)
          for (const each of steps) {
            if (each.do === 'settle') await scene.settle(each.charges)
            else if (each.do === 'append') await scene.append(each.organizationId, each.requests, each.isRepeated)
            else if (each.do === 'count') await scene.count(each.counts)
            else await Promise.all(Array.from({ length: each.nodes }, () => foldStoredDeltas(scene.database)))
          }
          for (const id of organizations) assert.deepEqual(await scene.reportedUsage(id), await scene.usageInLedger(id))
          while (!(await foldStoredDeltas(scene.database))) continue
          assert.deepEqual(await scene.rows(), scene.expected())
          for (const id of organizations) assert.deepEqual(await scene.reportedUsage(id), await scene.usageInLedger(id))
        }),
        { numRuns: 12, endOnFailure: true },
      )
    })

    it('sums the usage of end users in whole hours of any period, by day and in total, folded or not', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), readings, async (steps, { daysLater, periods }) => {
          await using scene = await openScene(open)
          for (const each of steps) {
            if (each.do === 'settle') await scene.settle(each.charges)
            else if (each.do === 'fold') await foldStoredDeltas(scene.database)
          }
          scene.clock.passMs(daysLater * dayMs)
          const read = () => Promise.all(periods.map((each) => scene.usageOfUsers(each)))
          const expected = periods.map((each) => scene.expectedUsers(each))
          assert.deepEqual(await read(), expected)
          while (!(await foldStoredDeltas(scene.database))) continue
          assert.deepEqual(await read(), expected)
          await trimRollup(scene.database, { nowSeconds: scene.clock.nowMs() / 1000, userDays: 30 })
          assert.deepEqual(await read(), expected)
        }),
        { numRuns: 12, endOnFailure: true },
      )
    })

    it('keeps the weeks of end users that begin after their names are removed', async () => {
      await using scene = await openScene(open)
      const one = {
        organizationId: 'org_1',
        keyId: 'key_1',
        userId: 'ada',
        outcome: 'answered',
        isMetered: false,
      } as const
      const days = Array.from({ length: 40 }, (_, at) => at)
      await scene.settle(days.map((at) => ({ ...one, request: at, minute: at * dayMinutes, micro: 0 })))
      while (!(await foldStoredDeltas(scene.database))) continue
      scene.clock.passMs(40 * dayMs)
      await trimRollup(scene.database, { nowSeconds: scene.clock.nowMs() / 1000, userDays: 30 })
      const toMs = scene.clock.nowMs()
      const rows = await scene.usageOfUsers({ fromMs: startMs, toMs, bucketMs: wholePeriodMs })
      assert.deepEqual(
        rows.map(([, user, requests]) => [user, requests]),
        [
          [null, 10],
          ['ada', 30],
        ],
      )
    })

    it('sums the usage of end users from days where a shorter setting removed their week', async () => {
      await using scene = await openScene(open)
      const one = {
        organizationId: 'org_1',
        keyId: 'key_1',
        userId: 'ada',
        outcome: 'answered',
        isMetered: false,
      } as const
      const days = Array.from({ length: 40 }, (_, at) => at)
      await scene.settle(days.map((at) => ({ ...one, request: at, minute: at * dayMinutes, micro: 0 })))
      while (!(await foldStoredDeltas(scene.database))) continue
      scene.clock.passMs(40 * dayMs)
      for (const userDays of [10, 11, 12, 13, 14, 15, 16]) {
        await trimRollup(scene.database, { nowSeconds: scene.clock.nowMs() / 1000, userDays })
        const kept = await scene.database.read<{ requests: number }>(
          `select sum(requests) as requests from rollup where kind = 'user' and step = 86400`,
        )
        const toMs = scene.clock.nowMs()
        for (const fromMs of [startMs, toMs - 11 * dayMs, toMs - 12 * dayMs, toMs - 14 * dayMs]) {
          const rows = await scene.usageOfUsers({ fromMs, toMs, bucketMs: wholePeriodMs })
          const ofAda = rows.find(([, user]) => user === 'ada')?.[2]
          const asked = Math.min(Number(kept[0]?.requests), Math.round((toMs - fromMs) / dayMs))
          assert.equal(ofAda, asked, `${userDays} days, from ${(toMs - fromMs) / dayMs} days ago`)
        }
      }
    })

    it('folds names of any length and any characters', async () => {
      await using scene = await openScene(open)
      const names = [
        '\u0000',
        '\ud800',
        String.fromCodePoint(...Array.from({ length: 2_000 }, (_, at) => 0x1f300 + at)),
      ]
      const one = { organizationId: 'org_1', minute: 0, keyId: 'key_1', outcome: 'answered', isMetered: false } as const
      await scene.settle(names.map((userId, at) => ({ ...one, request: at, userId, micro: 0 })))
      const before = await scene.users()
      assert.equal(before.length, 2)
      while (!(await foldStoredDeltas(scene.database))) continue
      assert.deepEqual(await scene.users(), before)
    })

    it('reports a damaged delta once, and counts all others', async () => {
      await using scene = await openScene(open)
      for (const [id, delta] of [
        ['0', '{'],
        ['1', '{}'],
      ] as const)
        await scene.database.write([
          {
            sql: `insert into rollup_delta (organization_id, id, delta) values ('org_1', $1, $2)`,
            params: [id, delta],
          },
        ])
      const damaged: string[] = []
      const fold = () => foldStoredDeltas(scene.database, ({ delta }) => void damaged.push(delta))
      while (!(await fold())) continue
      while (!(await fold())) continue
      assert.deepEqual(damaged, ['{', '{}'])
      assert.deepEqual(await scene.database.read('select id from rollup_delta'), [])
    })

    it('names end users for as long as the audit log keeps them', async () => {
      await using scene = await openScene(open)
      const one = { organizationId: 'org_1', minute: 0, keyId: 'key_1', outcome: 'answered', isMetered: false } as const
      await scene.settle([
        { ...one, request: 1, userId: 'ada', micro: 0 },
        { ...one, request: 2, userId: 'bob', micro: 0 },
      ])
      assert.deepEqual(await scene.users(), ['ada', 'bob'])
      while (!(await foldStoredDeltas(scene.database))) continue
      assert.deepEqual(await scene.users(), ['ada', 'bob'])
      scene.clock.passMs(40 * dayMs)
      assert.deepEqual(await scene.users(), [null])
      await trimRollup(scene.database, { nowSeconds: scene.clock.nowMs() / 1000, userDays: 30 })
      assert.deepEqual(await scene.users(), [null])
      assert.deepEqual(await scene.database.read(`select user_id from rollup where kind = 'user'`), [])
    })
  })
}

type ChargeInput = Pick<Charge, 'organizationId' | 'keyId' | 'userId' | 'outcome' | 'micro' | 'tags'> & {
  readonly request: number
  readonly minute: number
  readonly isMetered: boolean
}
type RequestInput = {
  readonly minute: number
  readonly keyId: string | undefined
  readonly model: string
  readonly decision: 'allow' | 'refuse'
  readonly failure: string | undefined
  readonly latencyMs: number
  readonly outputTokens: number
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const clock = setClock(startMs)
  const log = await openAuditLog(database, clock, organizations)
  const ids = createIds(clock, systemRandom)
  const ledger = ledgerStore(database, { ids, clock })
  for (const id of organizations) {
    const grant = { organizationId: id, kind: 'grant', ref: 'start', micro: 1_000_000, note: '' } as const
    await database.transaction((tx) => grantStore(tx, { ids, clock, engine: database.engine }).grant(grant))
    const slice = { id: `slice_${id}`, organizationId: id, holder: 'node', epoch: 'life' } as const
    await ledger.openSlice(slice, { leastMicro: 100, wantedMicro: 100_000 })
  }
  const reports = ledgerReports(database, { clock, userDays: 30 })
  const counts = decisionCounts(database, ids)
  const naive = createNaiveSums()
  const settled = new Map<string, Charge>()
  const usage = (id: string) => ({
    organizationId: id,
    fromMs: startMs - dayMs,
    toMs: startMs + 22 * dayMs,
    bucketMs: dayMs,
  })
  return {
    database,
    clock,
    async settle(inputs: readonly ChargeInput[]) {
      const charges = inputs.map(({ request: number, minute: at, isMetered, ...input }): Charge => {
        const { organizationId: id } = input
        const costMicro = input.outcome === 'answered' ? input.micro : 0
        const micro = isMetered ? costMicro : 0
        const plain = chargeOf(`${id} ${number}`, micro, isMetered ? `slice_${id}` : null)
        return { ...plain, ...input, micro, costMicro, atMs: startMs + at * minuteMs }
      })
      await Promise.all(charges.map((each) => ledger.settle(each)))
      for (const each of charges) {
        if (settled.has(each.requestId)) continue
        naive.addCharge(each)
        settled.set(each.requestId, each)
      }
    },
    async append(id: string, inputs: readonly RequestInput[], isRepeated: boolean) {
      const events = inputs.map((input): AuditEvent => log.events.makeEvent(factsOf(id, input)))
      await log.appender.append(id, events)
      if (isRepeated) await log.appender.append(id, events, true)
      for (const input of inputs) naive.addRequest(id, input)
    },
    async count(inputs: readonly MinuteCount[]) {
      const minutes = inputs.map((input) => ({ ...input, minute: startMs / minuteMs + input.minute }))
      await counts.add({ minutes, callers: [] })
      for (const each of minutes) naive.addCount(each)
    },
    expected: () => naive.rows(),
    async rows(): Promise<Record<string, number[]>> {
      const rows = await database.read(`select * from rollup`)
      return Object.fromEntries(rows.map((row) => [keyOf(row), sumsOf(row)]))
    },
    async reportedUsage(id: string) {
      const [row] = await reports.usage({ ...usage(id), bucketMs: wholePeriodMs, groupBy: ['user'] }).then(total)
      const [plain] = await reports.usage({ ...usage(id), groupBy: [] }).then(total)
      assert.deepEqual(row, plain)
      return plain
    },
    async usageInLedger(id: string) {
      const [row] = await database.read(
        `select count(*) as requests, cast(coalesce(sum(input_tokens), 0) as bigint) as tokens,
           cast(coalesce(sum(micro), 0) as bigint) as micro from charge where organization_id = $1 and outcome <> 'orphaned'`,
        [id],
      )
      return [row?.['requests'], row?.['tokens'], row?.['micro']]
    },
    async usageOfUsers(of: UsagePeriod): Promise<UserSums[]> {
      const rows = await reports.usage({ ...of, organizationId: 'org_1', groupBy: ['user'] })
      return rows.map((row) => [row.startMs, row.userId, row.requests, row.inputTokens, row.outputTokens, row.micro])
    },
    expectedUsers: (of: UsagePeriod) => naiveUsers([...settled.values()], of),
    async users() {
      const rows = await reports.usage({ ...usage('org_1'), groupBy: ['user'] })
      return rows.map(({ userId }) => userId)
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }

  function factsOf(id: string, input: RequestInput) {
    const timeMs = startMs + input.minute * minuteMs
    return requestFacts(
      {
        organizationId: id,
        timeMs,
        actor: { credentialId: input.keyId },
        verdict: { decision: input.decision, isEnforced: true },
        model: { provider: 'p', name: input.model, inputTokens: 1, outputTokens: input.outputTokens, costUsd: 0.001 },
        call: { method: 'POST', path: '/', address: '127.0.0.1', status: 200, latencyMs: input.latencyMs },
        ...(input.failure !== undefined && { failure: { code: input.failure } }),
      },
      clock,
    )
  }
}

type UsagePeriod = { readonly fromMs: number; readonly toMs: number; readonly bucketMs: number }
type UserSums = (string | null | number)[]

/** The sums of each user from the charges themselves, in order of the time and the names. */
function naiveUsers(charges: readonly Charge[], { fromMs, toMs, bucketMs }: UsagePeriod): UserSums[] {
  const hourMs = 60 * minuteMs
  const [from, to] = [Math.floor(fromMs / hourMs) * hourMs, Math.ceil(toMs / hourMs) * hourMs]
  const counted = charges.filter(
    ({ organizationId: id, outcome, atMs }) => id === 'org_1' && outcome !== 'orphaned' && from <= atMs && atMs < to,
  )
  const startOf = (atMs: number): number => Math.floor(atMs / bucketMs) * bucketMs
  const groups = Map.groupBy(counted, ({ atMs, userId = '' }) => `${String(startOf(atMs)).padStart(15, '0')} ${userId}`)
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, own]) => {
      const sum = (of: (charge: Charge) => number) => own.reduce((total, each) => total + of(each), 0)
      const tokens = [sum(({ usage }) => usage.inputTokens), sum(({ usage }) => usage.outputTokens)]
      const [{ atMs, userId } = { atMs: 0, userId: '' }] = own
      return [startOf(atMs), userId || null, own.length, ...tokens, sum(({ micro }) => micro)]
    })
}

type UsageTotals = { readonly requests: number; readonly inputTokens: number; readonly micro: number }

const total = (rows: readonly UsageTotals[]): number[][] => [
  rows.reduce(
    (sums, row) => [(sums[0] ?? 0) + row.requests, (sums[1] ?? 0) + row.inputTokens, (sums[2] ?? 0) + row.micro],
    [0, 0, 0],
  ),
]

const dimensionNames = [
  'project_id',
  'key_id',
  'model',
  'user_id',
  'upstream',
  'decision',
  'status',
  'subject',
  'version',
  'tags',
]
const sumNames = [
  'requests',
  'denials',
  'errors',
  'recorded_requests',
  'recorded_denials',
  'input_tokens',
  'output_tokens',
  'micro',
  'cost_micro_usd',
  'latency_0',
  'latency_1',
  'latency_5',
  'latency_11',
]

/** A mistake of the caller is neither. */
const countedErrors: Readonly<Record<string, string>> = {
  upstream_timeout: 'failures',
  rate_limit_exceeded: 'rate_limited',
}

type Row = Readonly<Record<string, Value>>

const keyOf = (row: Row): string =>
  [
    row['organization_id'],
    row['kind'],
    row['step'],
    row['start_time'],
    ...dimensionNames.map((name) => row[name]),
  ].join('|')
const sumsOf = (row: Row): number[] => sumNames.map((name) => Number(row[name] ?? 0))

const stepsOf: Readonly<Record<string, readonly number[]>> = {
  user: [3_600, 86_400, 604_800],
  cost: [3_600, 86_400],
}

const textOf = ({ team, env }: Tags): string =>
  [
    ...(env === '%' ? ['env=%25'] : []),
    ...(team === undefined ? [] : [team === 'red' ? 'team=red' : 'team=a%2Cb']),
  ].join(',')

/** Sums of the items that were written, without any of the code that is tested. */
function createNaiveSums() {
  const sums = new Map<string, number[]>()

  function add(kind: string, at: { id: string; atMs: number }, values: Row): void {
    for (const seconds of stepsOf[kind] ?? [60, 3_600, 86_400]) {
      const blank = Object.fromEntries(dimensionNames.map((name) => [name, name === 'version' ? 0 : '']))
      const start = Math.floor(at.atMs / (seconds * 1000)) * seconds
      const row = { ...blank, ...values, organization_id: at.id, kind, step: seconds, start_time: start }
      const known = sums.get(keyOf(row)) ?? sumNames.map(() => 0)
      sums.set(
        keyOf(row),
        sumsOf(row).map((sum, position) => sum + (known[position] ?? 0)),
      )
    }
  }

  return {
    addCharge({ organizationId: id, atMs, outcome, usage, ...each }: Charge) {
      if (outcome === 'orphaned') return
      const values = {
        project_id: each.projectId,
        key_id: each.keyId,
        model: each.model,
        requests: 1,
        input_tokens: usage.inputTokens,
        micro: each.micro,
      }
      add('usage', { id, atMs }, values)
      add('user', { id, atMs }, { ...values, user_id: each.userId ?? '' })
      const { userId = '', tags = {}, costMicro = 0 } = each
      add('cost', { id, atMs }, { ...values, user_id: userId, tags: textOf(tags), micro: costMicro })
    },
    addRequest(id: string, input: RequestInput) {
      const at = { id, atMs: startMs + input.minute * minuteMs }
      const status = input.decision === 'refuse' ? 'denied' : input.failure === undefined ? 'ok' : 'error'
      const values = {
        requests: 1,
        denials: status === 'denied' ? 1 : 0,
        errors: status === 'error' ? 1 : 0,
        input_tokens: 1,
        output_tokens: input.outputTokens,
        cost_micro_usd: 1_000,
        [{ 3: 'latency_0', 25: 'latency_1', 700: 'latency_5' }[input.latencyMs] ?? 'latency_11']: 1,
      }
      const { model, decision } = input
      add('traffic', at, { ...values, project_id: 'proj_1', model, upstream: 'p', decision, status })
      add('key', at, { ...values, key_id: input.keyId ?? '' })
      const counted = countedErrors[input.failure ?? '']
      if (status !== 'error' || counted === undefined) return
      const scopes = ['', ' proj_1', ...(input.keyId === undefined ? [] : [` ${input.keyId}`])]
      for (const scope of scopes) add('policy', at, { subject: counted + scope, version: 0, requests: 1 })
    },
    addCount({ organizationId: id, subject, version, ...each }: MinuteCount) {
      add(
        'policy',
        { id, atMs: each.minute * minuteMs },
        {
          subject,
          version,
          requests: each.requests,
          denials: each.denials,
          recorded_requests: each.recordedRequests,
          recorded_denials: each.recordedDenials,
        },
      )
    },
    rows: (): Record<string, number[]> => Object.fromEntries(sums),
  }
}
