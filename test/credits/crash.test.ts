import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { failpoints, type FailpointName } from '../../src/base/failpoint.ts'
import { createLimitEngine, type LimitEngine } from '../../src/domain/limits/engine/engine.ts'
import type { LimitStore } from '../../src/domain/limits/store.ts'
import { longRun } from '../support/long-run.ts'
import { Crash, openQuickDatabase, openScene, settings, type Scene, type SimulatedNode } from './simulation.ts'

type Command =
  | { readonly do: 'admit'; readonly node: number; readonly count: number; readonly micro: number }
  | { readonly do: 'settle'; readonly at: number; readonly share: number }
  | { readonly do: 'fail'; readonly at: number }
  | { readonly do: 'tidy'; readonly node: number }
  | { readonly do: 'grant'; readonly micro: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'die'; readonly node: number }
  | { readonly do: 'die at'; readonly node: number; readonly name: FailpointName }
  /** The shared counters restart empty, or are flushed while they run. */
  | { readonly do: 'lose counters'; readonly keepsEpoch: boolean; readonly at: FailpointName | null }

const node = fc.nat(1)
const at = fc.nat(20)
const commandArbitrary: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit'),
      node,
      count: fc.integer({ min: 1, max: 4 }),
      micro: fc.constantFrom(0, 1, 7, 20, 90),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('settle'), at, share: fc.constantFrom(0, 0.5, 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail'), at }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('tidy'), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('grant'), micro: fc.constantFrom(1, 50, 400) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1_000, 31_000, 901_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die'), node }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('die at'), node, name: fc.constantFrom(...failpoints) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('lose counters'),
      keepsEpoch: fc.boolean(),
      at: fc.option(fc.constantFrom(...failpoints)),
    }),
  },
)

/** The time to check a ledger grows with its size, so after a number of runs the next one starts with a new ledger. */
const runsPerDatabase = 50
let database = await openQuickDatabase()
after(() => database[Symbol.asyncDispose]())
let runs = 0
let steps = 0
let deaths = 0
const figures = (): string => `so far ${runs} runs, ${steps} steps, ${deaths} deaths of a node`

async function nextScene(): Promise<Scene> {
  if (++runs % runsPerDatabase === 0) {
    await database[Symbol.asyncDispose]()
    database = await openQuickDatabase()
  }
  return openScene(database, `org_${runs}`)
}

type Held = {
  readonly owner: SimulatedNode
  readonly atMs: number
  /** How often the counters had been lost when the request was admitted. */
  readonly losses: number
  readonly running: NonNullable<Awaited<ReturnType<SimulatedNode['admit']>>>
}

/** Two nodes, each restarted when it dies, and the costs reported to their callers. */
class Town {
  readonly scene: Scene
  readonly isShared: boolean
  readonly nodes: SimulatedNode[] = []
  readonly alive = new Set<string>()
  readonly reported = new Map<string, number>() // the cost of each request as reported to its caller
  running: Held[] = []
  granted = 0
  epochs = 0
  losses = 0
  losing: Extract<Command, { do: 'lose counters' }> | undefined
  requests = 0
  shared!: { epoch: string; engine: LimitEngine }

  constructor(scene: Scene, isShared: boolean) {
    this.scene = scene
    this.isShared = isShared
    this.loseCounters(false)
    if (isShared) this.start(0)
    this.start(isShared ? 1 : 0)
  }

  engine(epoch: string): LimitEngine {
    return createLimitEngine({ nowMs: () => this.scene.clock.nowMs(), epoch, settings })
  }

  loseCounters(keepsEpoch: boolean): void {
    this.losses += 1
    const epoch = keepsEpoch ? this.shared.epoch : `shared ${++this.epochs}`
    this.shared = { epoch, engine: this.engine(epoch) }
  }

  passFailpoint(name: FailpointName): void {
    if (this.losing?.at !== name) return
    this.loseCounters(this.losing.keepsEpoch)
    this.losing = undefined
  }

  /** Delegates to the current shared counters. */
  sharedStore(): LimitStore {
    return new Proxy({} as LimitStore, { get: (_, name) => Reflect.get(this.shared.engine, name) as unknown })
  }

  start(index: number): void {
    const epoch = `${this.scene.organizationId} node ${++this.epochs}`
    this.alive.add(epoch)
    const limits = this.isShared ? this.sharedStore() : this.engine(epoch)
    this.nodes[index] = this.scene.startNode({
      limits,
      ownEpoch: epoch,
      sharedEpoch: () => (this.isShared ? this.shared.epoch : undefined),
      isAlive: (other) => this.alive.has(other),
      onFailpoint: (name) => this.passFailpoint(name),
    })
  }

  node(index: number): SimulatedNode {
    return this.nodes[index % this.nodes.length] ?? assert.fail()
  }

  /** The caller of a dead node gets no reply, and the node is restarted. */
  async survive(owner: SimulatedNode, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
    await this.bury(owner)
  }

  async bury(owner: SimulatedNode): Promise<void> {
    const index = this.nodes.indexOf(owner)
    if (!owner.isDead() || index === -1) return
    deaths += 1
    this.running = this.running.filter((held) => held.owner !== owner)
    if (!this.isShared) this.alive.clear()
    this.start(index)
    if (!this.isShared) await this.node(index).inherit()
  }

  async admit(owner: SimulatedNode, micro: number): Promise<void> {
    const requestId = `${this.scene.organizationId} request ${++this.requests}`
    const { losses } = this
    await this.survive(owner, async () => {
      const running = await owner.admit(requestId, micro)
      if (running !== undefined) this.running.push({ owner, running, atMs: this.scene.clock.nowMs(), losses })
    })
  }

  /**
   * A request must not run longer than its hold. One that does finds the row that closed it as an orphan, unless the
   * counters were lost unnoticed meanwhile. Then its charge becomes a debt, as for an answer that costs more than its hold.
   */
  take(index: number): Held | undefined {
    const [held] = this.running.splice(index % Math.max(1, this.running.length), 1)
    const isLost = held !== undefined && held.losses !== this.losses
    return isLost && this.scene.clock.nowMs() - held.atMs > settings.holdMs ? undefined : held
  }

  async perform(step: Command): Promise<void> {
    switch (step.do) {
      case 'admit': {
        const owner = this.node(step.node)
        await Promise.all(Array.from({ length: step.count }, () => this.admit(owner, step.micro)))
        return
      }
      case 'settle': {
        const held = this.take(step.at)
        if (held === undefined) return
        const micro = Math.floor(held.running.micro * step.share)
        return this.survive(held.owner, async () => {
          this.reported.set(held.running.requestId, await held.owner.settle(held.running, micro))
        })
      }
      case 'fail': {
        const held = this.take(step.at)
        return held && this.survive(held.owner, () => held.owner.fail(held.running))
      }
      case 'tidy': {
        const owner = this.node(step.node)
        return this.survive(owner, () => owner.reconcile())
      }
      case 'grant':
        this.granted += step.micro
        return this.scene.grant(step.micro, `grant ${this.granted}`)
      case 'pass':
        return this.scene.clock.pass(step.ms)
      case 'die': {
        const owner = this.node(step.node)
        owner.die()
        return this.bury(owner)
      }
      case 'die at':
        return this.node(step.node).dieAt(step.name)
      case 'lose counters':
        if (!this.isShared) return
        if (step.at === null) this.loseCounters(step.keepsEpoch)
        else this.losing = step
    }
  }

  /** At the end every charge that was reported to a caller is in the ledger, and all other credits can be spent again. */
  async settleDown(): Promise<void> {
    this.losing = undefined
    for (const one of this.nodes.slice()) {
      one.die()
      await this.bury(one)
    }
    this.scene.clock.pass(settings.leaseMs)
    assert.equal(await this.node(0).usedSlots(), 0, 'a place outlived its lease')
    await this.rest()
    await this.scene.check()
    const balance = (await this.scene.ledger.balance(this.scene.organizationId)) ?? assert.fail()
    assert.equal(balance.grantedMicro, this.granted)
    const sql = 'select request_id, micro from charge where organization_id = $1'
    const rows = await database.read<{ request_id: string; micro: number }>(sql, [this.scene.organizationId])
    const charged = new Map(rows.map(({ request_id: id, micro }) => [id, micro]))
    for (const [id, micro] of this.reported)
      assert.equal(charged.get(id), micro, `${id} was charged otherwise than told`)
    assert.equal(
      balance.spentMicro,
      [...charged.values()].reduce((sum, micro) => sum + micro, 0),
    )
    const left = balance.grantedMicro - balance.spentMicro
    if (await this.canSpend(left)) return
    await this.rest() // the next request finds a slice that the counters lack, and retires it
    assert.ok(await this.canSpend(left), 'credits were lost')
  }

  async rest(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      this.scene.clock.pass(settings.holdMs + 1_000)
      await this.node(0).reconcile()
    }
  }

  /** Spends the whole balance, which proves that it can be spent. */
  async canSpend(micro: number): Promise<boolean> {
    const requestId = `${this.scene.organizationId} request ${++this.requests}`
    return (await this.node(0).admit(requestId, micro)) !== undefined
  }
}

async function live(isShared: boolean, commands: readonly Command[]): Promise<void> {
  const scene = await nextScene()
  const town = new Town(scene, isShared)
  await town.perform({ do: 'grant', micro: 500 })
  for (const command of commands) {
    steps += 1
    await town.perform(command)
    await scene.checkBalance()
  }
  await town.settleDown()
}

describe('after a crash at any point', () => {
  const parameters = longRun === undefined ? { numRuns: 150 } : { numRuns: longRun.runs, seed: longRun.seed }
  const commands = fc.array(commandArbitrary, { minLength: 10, maxLength: 50, size: 'max' })

  it('a node with local counters has lost no charge, has charged nothing twice, and can spend all other credits', async (t) => {
    await fc.assert(
      fc.asyncProperty(commands, (sequence) => live(false, sequence)),
      parameters,
    )
    t.diagnostic(figures())
  })

  it('the same holds for nodes with shared counters that occasionally lose their state', async (t) => {
    await fc.assert(
      fc.asyncProperty(commands, (sequence) => live(true, sequence)),
      parameters,
    )
    t.diagnostic(figures())
  })
})
