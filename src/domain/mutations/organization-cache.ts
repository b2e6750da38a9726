import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Changes } from './changes.ts'

export type OrganizationCacheParts<Value> = {
  readonly changes: Changes
  /** `before` is the last value that was read, so that unchanged parts of it can be kept. */
  readonly read: (organizationId: string, before: Value | undefined) => Promise<Value>
  readonly onEvicted?: (value: Value) => void
}

/** Organizations whose value is cached; the least recently read one is evicted first. */
const maxCached = 1_000

type Cached<Value> = { value: MaybePromise<Value>; readonly readAt: number }

/**
 * Reads a value of an organization once, and again after any change of the organization. If the database cannot be reached
 * then, the previous value stays valid for a bounded time.
 */
export function createOrganizationCache<Value>({ changes, read, onEvicted }: OrganizationCacheParts<Value>) {
  const cached = new Map<string, Cached<Value>>()

  return (organizationId: string): MaybePromise<Value> => {
    const known = cached.get(organizationId)
    if (known !== undefined && changes.latestOf(organizationId) <= known.readAt) return known.value
    const readAt = changes.count()
    const one: Cached<Value> = {
      value: readAfter(organizationId, known?.value).then((value) => (one.value = value), onReadFailed),
      readAt,
    }
    addToCache(organizationId, one)
    return one.value

    /** After a failed read, the next request tries again. */
    function onReadFailed(error: unknown): MaybePromise<Value> {
      const stale = changes.mayUseStale(organizationId, error) ? known : undefined
      if (cached.get(organizationId) === one) {
        if (stale) cached.set(organizationId, stale)
        else cached.delete(organizationId)
      }
      if (stale) return stale.value
      throw error
    }
  }

  async function readAfter(organizationId: string, known: MaybePromise<Value> | undefined): Promise<Value> {
    return read(organizationId, isPromise(known) ? await known.catch(() => undefined) : known)
  }

  function addToCache(organizationId: string, one: Cached<Value>): void {
    cached.delete(organizationId)
    cached.set(organizationId, one)
    if (cached.size <= maxCached) return
    const [oldest] = cached
    if (oldest === undefined) return
    cached.delete(oldest[0])
    if (onEvicted !== undefined) void Promise.resolve(oldest[1].value).then(onEvicted, () => {})
  }
}
