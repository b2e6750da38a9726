import { dayMs, repeat, hourMs, type Clock } from '../../base/clock.ts'
import type { LimitEngine } from './engine/engine.ts'
import type { NodeUsage } from './usage.ts'

/** Where the windows of a process outlive it. */
export type UsageStore = {
  /** All that was saved after this time. */
  load(afterMs: number): Promise<readonly NodeUsage[]>
  save(uses: readonly NodeUsage[], nowMs: number): Promise<void>
  removeBefore(ms: number): Promise<void>
}

export type PersistedUsageParts = {
  readonly store: UsageStore
  readonly engine: Pick<LimitEngine, 'contribute' | 'takeChanged'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** A process that is killed loses no more than it has counted for this long. */
const saveEveryMs = 1_000
/** By then every slot has left the day. */
const keptMs = dayMs + hourMs

/**
 * Gives the counters the windows that the process before had, and saves them each second and at the end. Requests never
 * wait for it.
 */
export async function persistUsage({ store, engine, clock, onError }: PersistedUsageParts): Promise<AsyncDisposable> {
  for (const { organization, ...use } of await store.load(clock.nowMs() - keptMs)) {
    engine.contribute({ organization, scopes: [use], running: [] })
  }
  engine.takeChanged()
  let unsaved: readonly NodeUsage[] = []

  const save = async (): Promise<void> => {
    const uses = newest([...unsaved, ...engine.takeChanged()])
    unsaved = []
    if (uses.length === 0) return
    try {
      await store.save(uses, clock.nowMs())
    } catch (error) {
      unsaved = uses
      onError(error)
    }
  }
  const running = new DisposableStack()
  running.use(repeat(clock, save, saveEveryMs))
  running.use(repeat(clock, () => store.removeBefore(clock.nowMs() - keptMs).catch(onError), hourMs))
  return {
    async [Symbol.asyncDispose]() {
      running.dispose()
      await save()
    },
  }
}

/** Of each scope, what was counted last. */
const newest = (uses: readonly NodeUsage[]): NodeUsage[] => [
  ...new Map(uses.map((use) => [`${use.organization} ${use.scope} ${use.id}`, use])).values(),
]
