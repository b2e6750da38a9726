import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { connectRedis, type RedisConnection } from '../../src/adapters/stores/redis/connection.ts'
import { createRedisLimitStore } from '../../src/adapters/stores/redis/limit-store.ts'
import { repeat, systemClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/random.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { createFallbackStore } from '../../src/domain/limits/fallback.ts'
import { metrics, unlimited, type Limits, type Metric } from '../../src/domain/limits/scopes.ts'
import { LimitStoreError, type SharedLimitStore } from '../../src/domain/limits/store.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { startRedisServer, withoutRedisServer, type RedisServer } from '../support/redis-server.ts'

/** Events of the nodes and their Redis, all within one window. */
type Step =
  | { readonly do: 'request'; readonly node: number; readonly times: number; readonly atOnce: boolean }
  | { readonly do: 'cut' | 'join'; readonly node: number }
  | { readonly do: 'flush' | 'restart' | 'save' | 'tick' }

/** The maximum of admitted requests; each uses 5 tokens and stays in flight. */
const most = 12
const limitsOf = (metric: Metric): Limits => {
  const value = metric === 'tpm' || metric === 'tpd' ? most * 5 : most
  const limited = { ...unlimited, [metric]: value }
  return { key: unlimited, project: unlimited, organization: limited }
}

const nodeAt = fc.nat(2)
const stepArbitrary = (...losses: readonly ('flush' | 'restart' | 'save')[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('request' as const),
        node: nodeAt,
        times: fc.integer({ min: 1, max: 14 }),
        atOnce: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'join' as const), node: nodeAt }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom(...losses) }) },
  )

/** A node with its own network, which can be cut off. */
function createNode(connection: RedisConnection, id: string, count: number) {
  const time = createHandClock()
  const state = { isCut: false }
  const redis = createRedisLimitStore({ connection, settings })
  const shared = new Proxy(redis, {
    get: (target, name: keyof SharedLimitStore) =>
      state.isCut
        ? () => Promise.reject(new LimitStoreError('unreachable', 'cut'))
        : (target[name] as (...args: unknown[]) => unknown),
  })
  const createEngine = () => createLimitEngine({ nowMs: () => systemClock.nowMs(), epoch: id, settings })
  const store = createFallbackStore({
    shared,
    local: createEngine(),
    unsent: createEngine(),
    nodeId: id,
    membership: { count: () => count, isAlive: () => true },
    clock: time.clock,
    random: systemRandom,
  })
  repeat(time.clock, store.sync, 1_000) // as the job does
  return { state, store, time }
}

async function play(server: RedisServer, connection: RedisConnection, played: Scenario): Promise<number> {
  const { count, metric, steps } = played
  await connection.client.flushall()
  const organization = `org_${randomUUID()}`
  const nodes = Array.from({ length: count }, (_, at) => createNode(connection, `node_${at}`, count))
  const subject = { organization, project: 'project', key: 'key' }
  let requestCount = 0
  let admitted = 0
  const send = async (at: number): Promise<void> => {
    const request = { ...subject, limits: limitsOf(metric), mode: 'full', tokens: 5, micro: null } as const
    const verdict = await nodes[at % count]?.store.admit({ ...request, requestId: `request_${requestCount++}` })
    if (verdict?.admitted) admitted++
  }
  for (const step of steps) {
    if (step.do === 'request' && step.atOnce)
      await Promise.all(Array.from({ length: step.times }, () => send(step.node)))
    else if (step.do === 'request') for (let times = 0; times < step.times; times++) await send(step.node)
    else if (step.do === 'cut' || step.do === 'join') nodeOf(nodes, step.node).state.isCut = step.do === 'cut'
    else if (step.do === 'flush') await connection.client.flushall()
    else if (step.do === 'save') await connection.client.save()
    else if (step.do === 'tick') await tick(nodes)
    else await restart(server, connection)
  }
  for (const { store } of nodes) store[Symbol.dispose]()
  return admitted
}

const nodeOf = <T>(nodes: readonly T[], at: number): T => nodes[at % nodes.length] ?? assert.fail()

/** Every node syncs three times: it reconnects to Redis, contributes its usage, and reads that of the other nodes. */
async function tick(nodes: readonly ReturnType<typeof createNode>[]): Promise<void> {
  for (let turns = 0; turns < 3; turns++) {
    for (const { time } of nodes) await time.pass(1_500)
    for (const { time, store } of nodes) {
      while (time.waiting() !== (store.isDegraded() ? 2 : 1)) await new Promise(setImmediate)
    }
  }
}

/** Kills Redis and starts it again, with its saved data, if any. */
async function restart(server: RedisServer, connection: RedisConnection): Promise<void> {
  const before = connection.epoch()
  await server.restart()
  while (connection.epoch() === null || connection.epoch() === before) await new Promise(setImmediate)
}

type Scenario = { readonly count: number; readonly metric: Metric; readonly steps: readonly Step[] }

const scenarios = (count: number, step: fc.Arbitrary<Step>): fc.Arbitrary<Scenario> =>
  fc.record({
    count: fc.constant(count),
    metric: fc.constantFrom(...metrics),
    steps: fc.array(step, { minLength: 6, maxLength: 20, size: 'max' }),
  })

async function holds(scenario: fc.Arbitrary<Scenario>, bound: number): Promise<void> {
  await using server = await startRedisServer()
  using connection = connectRedis({ url: server.url, commandTimeoutMs: 5_000 })
  await connection.ready()
  const property = fc.asyncProperty(scenario, async (played) => {
    const admitted = await play(server, connection, played)
    assert.ok(admitted <= bound, `${admitted} of ${bound} were admitted`)
  })
  await fc.assert(property, { numRuns: 40 })
}

describe(
  'the number of requests that one window admits while Redis is lost, emptied and restored',
  { skip: withoutRedisServer },
  () => {
    it('is exactly the limit on a single node, even if Redis restarts with an old copy', async () => {
      await holds(scenarios(1, stepArbitrary('flush', 'restart', 'save')), most)
    })

    it('is at most the limit and the shares of the other two nodes, on three nodes', async () => {
      await holds(scenarios(3, stepArbitrary('flush', 'restart')), most + 2 * (most / 3))
    })

    const send = (node: number, times: number): Step => ({ do: 'request', node, times, atOnce: true })
    const cases: readonly { readonly title: string; readonly count: number; readonly steps: readonly Step[] }[] = [
      {
        title: 'if all nodes reach Redis, however often it is emptied',
        count: 3,
        steps: [0, 1, 2, 3].flatMap((node): Step[] => [
          send(node, 14),
          { do: node % 2 === 0 ? 'flush' : 'restart' },
          { do: 'tick' },
        ]),
      },
      {
        title: 'if a single node was cut off for a while',
        count: 1,
        steps: [send(0, 3), { do: 'cut', node: 0 }, send(0, 4), { do: 'join', node: 0 }, { do: 'tick' }, send(0, 14)],
      },
      {
        title: 'if a node was cut off and another one gets requests',
        count: 3,
        steps: [
          send(0, 1),
          send(1, 1),
          { do: 'cut', node: 0 },
          send(0, 9),
          { do: 'join', node: 0 },
          { do: 'tick' },
          send(1, 14),
        ],
      },
    ]
    for (const { title, count, steps } of cases) {
      it(`is the limit ${title}`, async () => {
        await using server = await startRedisServer()
        using connection = connectRedis({ url: server.url, commandTimeoutMs: 5_000 })
        await connection.ready()
        for (const metric of metrics)
          assert.equal(await play(server, connection, { count, metric, steps }), most, metric)
      })
    }

    it('is less than twice the limit on three nodes if Redis restarts with an old copy', async () => {
      await holds(scenarios(3, stepArbitrary('flush', 'restart', 'save')), 2 * most)
    })
  },
)
