import { connectRedis } from '../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../src/adapters/stores/redis/limit-store.ts'
import { systemClock } from '../src/base/clock.ts'
import type { AdmissionRequest } from '../src/domain/limits/admission.ts'
import { limitSettings as settings } from '../test/support/limit-settings.ts'
import { countOnly, type BudgetDemand } from '../src/domain/limits/budget-counters.ts'
import { createLimitEngine, type LimitEngine } from '../src/domain/limits/engine/engine.ts'
import type { Limits } from '../src/domain/limits/scopes.ts'
import { contributing } from '../test/support/contributing.ts'

/**
 * The cost of admission. In memory: CPU of this process per admit and settle. In Redis (REDIS_URL): CPU of the server per
 * call, compared with an empty script, for a new tenant and for one with every window slot filled.
 */
type Row = { readonly what: string; readonly micros: number; readonly of: string; readonly count: number }

const high = { rpm: 1e9, rpd: 1e9, tpm: 1e12, tpd: 1e12, concurrent: 1e6 }
const limits: Limits = { key: high, project: high, organization: high }
const startMs = 1_760_000_000_000

const requestOf = (number: number): Extract<AdmissionRequest, { mode: 'full' }> => ({
  organization: `bench_${number % 50}`,
  project: 'project',
  key: `key_${number % 10}`,
  limits,
  mode: 'full',
  requestId: `request_${number}`,
  tokens: 1_200,
  micro: 900,
})

/** Budgets that all match, and never reject. */
const budgetsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ counter: `bud_${at}`, limit: countOnly, amount: 900, phase: 0 }))

function inMemory(rounds: number, count: number, budgetCount = 0): Row {
  const budgets = budgetsOf(budgetCount)
  const demand = budgetCount === 0 ? {} : { budgets }
  const time = { nowMs: startMs }
  const engine = createLimitEngine({ nowMs: () => time.nowMs, epoch: 'bench', settings })
  const round = (): number => {
    const before = process.cpuUsage()
    for (let number = 0; number < count; number++) {
      if (number % 5 === 0) time.nowMs++
      const request = requestOf(number)
      engine.admit({ ...request, ...demand })
      engine.settle({ ...request, ...demand, tokens: 700, micro: 500 })
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  }
  for (let number = 0; number < 50; number++) {
    engine.grant({ organization: `bench_${number}`, epoch: 'bench', sliceId: 'slice', amountMicro: 1e15, opens: true })
    openBudgets(engine, `bench_${number}`, budgets)
  }
  const figures = Array.from({ length: rounds }, round).toSorted((a, b) => a - b)
  return {
    what: `memory: admit + settle${budgetCount === 0 ? '' : `, ${budgetCount} budgets`}`,
    micros: figures[rounds >> 1] ?? 0,
    of: 'this process',
    count: rounds * count,
  }
}

function openBudgets(
  store: Pick<LimitEngine, 'countBudgets'>,
  organization: string,
  budgets: readonly BudgetDemand[],
): void {
  for (const spent of [null, 0]) {
    const counters = budgets.map(({ counter }) => ({ counter, spent, phase: 0, expiresAtMs: Infinity }))
    store.countBudgets({ organization, epoch: 'bench', token: 1, counters })
  }
}

type Bench = {
  readonly store: ReturnType<typeof contributing>
  readonly time: { nowMs: number }
  readonly serverMicros: () => Promise<number>
}

/** One organization. `everyMs` is the interval of its requests, so that few or all of its window slots are filled. */
async function inRedis(bench: Bench, what: string, everyMs: number): Promise<Row[]> {
  const { store, time, serverMicros } = bench
  const count = 2_000
  const request = { ...requestOf(1), organization: `bench_${what}_${process.pid}`, micro: null }
  const step = (number: number) => store.admit({ ...request, requestId: `request_${number}` })
  const end = (number: number) => store.settle({ ...request, requestId: `request_${number}`, tokens: 700, micro: 0 })

  for (let number = 0; number < 100; number++) {
    time.nowMs += everyMs === 0 ? 0 : 3_600_000 / 4 // fills the slots of the daily window
    await step(number)
    await end(number)
  }
  let admitMicros = 0
  let settleMicros = 0
  for (let batch = 0; batch < count; batch += 50) {
    const numbers = Array.from({ length: 50 }, (_, at) => 1_000 + batch + at)
    const before = await serverMicros()
    await Promise.all(numbers.map((number) => ((time.nowMs += everyMs), step(number))))
    const between = await serverMicros()
    await Promise.all(numbers.map(end))
    admitMicros += between - before
    settleMicros += (await serverMicros()) - between
  }
  return [
    { what: `Redis: admit, ${what} tenant`, micros: admitMicros / count, of: 'the server', count },
    { what: `Redis: settle, ${what} tenant`, micros: settleMicros / count, of: 'the server', count },
  ]
}

async function bareScript({ client }: ReturnType<typeof connectRedis>, micros: Bench['serverMicros']): Promise<Row> {
  const count = 2_000
  const digest = String(await client.script('LOAD', 'return 1'))
  const before = await micros()
  for (let batch = 0; batch < count; batch += 50) {
    await Promise.all(Array.from({ length: 50 }, () => client.evalsha(digest, 1, 'rl2:{bench}:none')))
  }
  return {
    what: 'Redis: a script that does nothing',
    micros: ((await micros()) - before) / count,
    of: 'the server',
    count,
  }
}

async function allInRedis(url: string): Promise<Row[]> {
  using connection = connectRedis({ url, commandTimeoutMs: 10_000 })
  await connection.ready()
  const time = { nowMs: startMs }
  const store = contributing(createRedisLimitStore({ connection, settings, nowMs: () => time.nowMs }))
  /** The total CPU time of the server, including I/O. */
  const serverMicros = async (): Promise<number> => {
    const cpu = await connection.client.info('cpu')
    const seconds = ['user', 'sys'].map((part) => Number(new RegExp(`^used_cpu_${part}:(.*)$`, 'm').exec(cpu)?.[1]))
    return seconds.reduce((sum, part) => sum + part, 0) * 1e6
  }
  const bench = { store, time, serverMicros }
  return [
    await bareScript(connection, serverMicros),
    ...(await inRedis(bench, 'new', 0)),
    ...(await inRedis(bench, 'full', 1_000)),
  ]
}

const url = process.env['REDIS_URL'] ?? process.env['TEST_REDIS_URL']
const rows = [inMemory(5, 100_000), inMemory(5, 100_000, 20), ...(url === undefined ? [] : await allInRedis(url))]
for (const { what, micros, of } of rows)
  console.log(`${what.padEnd(36)} ${micros.toFixed(1).padStart(8)} us CPU of ${of}`)
const machine = { node: process.version, arch: process.arch, at: new Date(systemClock.nowMs()).toISOString() }
console.log(JSON.stringify({ bench: 'limits', machine, rows }))
