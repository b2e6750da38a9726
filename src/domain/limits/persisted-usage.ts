import { dayMs, hourMs, type Clock } from '../../base/clock.ts'
import type { LimitEngine } from './engine/engine.ts'
import type { NodeUsage } from './usage.ts'

/** Where the windows of an embedded server survive a restart. */
export type UsageStore = {
  /** All usage saved after this time. */
  load(afterMs: number): Promise<readonly NodeUsage[]>
  save(usages: readonly NodeUsage[], nowMs: number): Promise<void>
  removeBefore(ms: number): Promise<void>
}

export type PersistedUsageParts = {
  readonly store: UsageStore
  readonly engine: Pick<LimitEngine, 'contribute' | 'takeChanged'>
  readonly clock: Clock
}

export type PersistedUsage = {
  /**
   * Saves counters that changed since they were saved last, those that wait longest first. A process that is killed loses what
   * it counted since then.
   */
  save(): Promise<void>
  /** Saves all counters that changed. For the shutdown. */
  saveAll(): Promise<void>
  /** Removes saved counters that have left every window. */
  removeOld(): Promise<void>
}

/**
 * Scopes saved per call. With more that change, each is saved less often, so that the cost does not grow with the number of
 * organizations.
 */
const maxPerSave = 500

/** After this time every slot has left the day window. */
const keptMs = dayMs + hourMs

/** Loads the counters of the previous process into the engine. Requests never wait for a save. */
export async function persistUsage({ store, engine, clock }: PersistedUsageParts): Promise<PersistedUsage> {
  for (const { organization, ...use } of await store.load(clock.nowMs() - keptMs)) {
    engine.contribute({ organization, scopes: [use], running: [] })
  }
  engine.takeChanged(Infinity)
  let unsaved: readonly NodeUsage[] = []

  async function save(max: number): Promise<void> {
    const usages = newest([...unsaved, ...engine.takeChanged(max)])
    unsaved = []
    if (usages.length === 0) return
    try {
      await store.save(usages, clock.nowMs())
    } catch (error) {
      unsaved = usages
      throw error
    }
  }

  return {
    save: () => save(maxPerSave),
    saveAll: () => save(Infinity),
    removeOld: () => store.removeBefore(clock.nowMs() - keptMs),
  }
}

/** Of each scope, what was counted last. */
const newest = (usages: readonly NodeUsage[]): NodeUsage[] => [
  ...new Map(usages.map((use) => [`${use.organization} ${use.scope} ${use.id}`, use])).values(),
]
