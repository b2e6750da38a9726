import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import type { FailpointName } from '../../src/base/failpoint.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { createSliceAllocator } from '../../src/domain/credits/slice-allocator.ts'
import { createReconciler } from '../../src/domain/credits/reconciler.ts'
import type { LedgerStore } from '../../src/domain/credits/ledger-store.ts'
import { createSettle } from '../../src/domain/credits/settle.ts'
import type { LimitSettings } from '../../src/domain/limits/admission.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import type { LimitStore } from '../../src/domain/limits/store.ts'
import { chargeOf, organizationOf } from '../support/credits.ts'
import { verifyThrough } from '../support/ledger.ts'
import { createQuickClock } from '../support/quick-clock.ts'

const manyPlaces = 1_000

/** Thrown when a node dies: its next action does not happen. */
export class Crash extends Error {}

export const settings: LimitSettings = { leaseMs: 30_000, holdMs: 900_000, countRejectedIn: 'key' }

/** A database on a memory disk, which persists without waiting, if the machine has one. */
export async function openQuickDatabase(): Promise<Database> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-credits-'))
  const database = await openSqlite({ dataDir: folder, hasRedoLog: true })
  const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))
  await migrate(database, await readMigrations(migrations))
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Running = { readonly requestId: string; readonly micro: number; readonly sliceId: string; readonly epoch: string }

/** One node: it admits, settles and reconciles until it dies. */
export type SimulatedNode = {
  admit(requestId: string, micro: number): Promise<Running | undefined>
  /** Resolves to the cost that is reported to the caller. */
  settle(running: Running, micro: number): Promise<number>
  /** The upstream failed: nothing is charged. */
  fail(running: Running): Promise<void>
  /** How many requests hold a slot of the organization. */
  usedSlots(): Promise<number>
  reconcile(): Promise<void>
  inherit(): Promise<void>
  /** Dies at the next failpoint of this name. */
  dieAt(name: FailpointName): void
  die(): void
  isDead(): boolean
}

export type Scene = {
  readonly organizationId: string
  readonly ledger: LedgerStore
  readonly clock: ReturnType<typeof createQuickClock>
  grant(micro: number, ref: string): Promise<void>
  startNode(node: NodeOptions): SimulatedNode
  /** The invariants that hold at any time and can be checked quickly. */
  checkBalance(): Promise<void>
  /** All invariants. */
  check(): Promise<void>
}

export type NodeOptions = {
  readonly limits: LimitStore
  readonly ownEpoch: string
  readonly sharedEpoch: () => string | null | undefined
  readonly isAlive: (epoch: string) => boolean
  /** Runs at a failpoint, for actions of other nodes at that moment. */
  readonly onFailpoint: (name: FailpointName) => void
}

export async function openScene(database: Database, organizationId: string): Promise<Scene> {
  const clock = createQuickClock()
  const ids = createIds(clock, systemRandom)
  const ledger = ledgerStore(database, { ids, clock })
  await database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf(organizationId)))
  const checkBalance = async (): Promise<void> => {
    const balance = await ledger.balance(organizationId)
    assert.ok(balance && balance.availableMicro >= 0, 'what was available was overdrawn')
    assert.equal(await ledger.drift(organizationId), 0)
  }
  return {
    organizationId,
    ledger,
    clock,
    startNode: (options) => startNode({ ...options, ledger, clock, ids, organizationId }),
    async grant(micro, ref) {
      const grant = { organizationId, kind: 'grant', ref, micro, note: '' } as const
      await database.transaction((tx) => grantStore(tx, { ids, clock, engine: database.engine }).grant(grant))
    },
    checkBalance,
    async check() {
      const { broken } = await database.transaction(({ query }) => verifyThrough(query, database))
      assert.equal(broken, null)
      await checkBalance()
      for (const slice of await ledger.liveSlices()) {
        assert.ok(slice.settledMicro <= slice.amountMicro, `slice ${slice.id} was overdrawn`)
      }
    },
  }
}

type Parts = NodeOptions &
  Pick<Scene, 'ledger' | 'clock' | 'organizationId'> & { readonly ids: (prefix: string) => string }

function startNode(parts: Parts): SimulatedNode {
  const { organizationId, clock, ids, ownEpoch, sharedEpoch, isAlive } = parts
  let isDead = false
  let deadly: FailpointName | undefined
  const failpoint = (name: FailpointName): void => {
    parts.onFailpoint(name)
    if (name === deadly) isDead = true
    if (isDead) throw new Crash(name)
  }
  const ledger = mortal(parts.ledger, () => isDead)
  const limits = mortal(parts.limits, () => isDead)
  const allocator = createSliceAllocator({
    ledger,
    limits,
    holderOf: (epoch) => (epoch === ownEpoch ? 'node' : 'shared'),
    changes: { latestOf: () => 0 },
    ids,
    clock,
    failpoint,
  })
  const settle = createSettle({ ledger, limits, backlog: null, failpoint, onCharge: () => {} })
  const reconciler = createReconciler({
    ledger,
    limits,
    allocator,
    backlog: null,
    ownEpoch,
    sharedEpoch,
    membership: { count: () => 2, isAlive },
    holdMs: settings.holdMs,
    clock,
    failpoint,
    onOrphans: () => {},
    onDifference: (_, { description }) => assert.fail(description),
  })
  const subject = { organization: organizationId, project: 'proj_1', key: 'key_1' }
  const free = { key: unlimited, project: unlimited, organization: unlimited }

  return {
    async admit(requestId, micro) {
      for (let exhausted = 0; ;) {
        const verdict = await limits.admit({ ...subject, limits: free, mode: 'full', requestId, tokens: 1, micro })
        const { credits } = verdict
        if (credits === null) assert.fail('not metered')
        if (verdict.admitted) {
          failpoint('admitted')
          return { requestId, micro, sliceId: credits.sliceId ?? '', epoch: credits.epoch }
        }
        if (exhausted === 2) return undefined
        exhausted = (await allocator.topUp({ organizationId, micro, credits })) === 'exhausted' ? exhausted + 1 : 0
      }
    },
    async settle({ requestId, sliceId, epoch }, micro) {
      const charge = { ...chargeOf(requestId, micro, sliceId), organizationId }
      const settled = await settle(charge, { ...subject, requestId, tokens: 1, epoch })
      return settled?.micro ?? assert.fail('there is no backlog')
    },
    async fail({ requestId }) {
      await limits.settle({ ...subject, requestId, tokens: 0, micro: 0 })
    },
    async usedSlots() {
      const counted = { ...free, organization: { ...unlimited, concurrent: manyPlaces } }
      const checked = {
        ...subject,
        limits: counted,
        mode: 'check',
        requestId: 'asked',
        tokens: 0,
        micro: null,
      } as const
      const { limitStatus } = await limits.admit(checked)
      return manyPlaces - (limitStatus.organization.concurrent?.remaining ?? 0)
    },
    async reconcile() {
      await reconciler.reconcileSlices()
      await reconciler.reconcileRequests([organizationId])
    },
    inherit: () => reconciler.releasePrevious(),
    dieAt: (name) => void (deadly = name),
    die: () => void (isDead = true),
    isDead: () => isDead,
  }
}

/** The same, until the node dies: then every call fails before it starts. */
function mortal<T extends object>(alive: T, isDead: () => boolean): T {
  return new Proxy(alive, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        if (isDead()) throw new Crash(String(name))
        return Reflect.apply(value, target, args)
      }
    },
  })
}
