import { createFairBatches } from '../../base/fair-batches.ts'
import { Fault } from '../../base/fault.ts'
import { clientPrefixOf } from './free-request.ts'
import type { Changes } from '../mutations/changes.ts'
import type { AdminKey, ApiKey, Organization, Project } from './principal.ts'
import type { CredentialStore, FoundKey, FoundKeys } from './store.ts'

/** `readAt` is the count of changes before the read; a later change makes the result stale. */
export type Read<T> = { readonly value: T | undefined; readonly readAt: number }

export type FindKey<K> = (digest: string, address: string) => Promise<Read<FoundKey<K>>>

/** The project that a verified token names. */
export type TokenProject = { readonly organizationId: string; readonly projectId: string }

export type Lookups = {
  readonly apiKey: FindKey<ApiKey>
  readonly adminKey: FindKey<AdminKey>
  readonly project: (
    of: TokenProject,
    address: string,
  ) => Promise<Read<{ readonly project: Project; readonly organization: Organization }>>
}

const maxConcurrent = 4
const maxBatch = 512
/** Storage reads `maxBatch` keys at once, so a queue of this length per address means that storage hangs. */
const maxWaiting = 10_000

/**
 * Reads of credentials that are not cached. Anybody can invent keys with a correct checksum, so the load that they cause
 * is bounded: few queries run at once, each for many keys, with fair queueing between addresses.
 */
export function createLookups(store: CredentialStore, changes: Changes): Lookups {
  const bounds = { maxConcurrent, maxWaiting, overflow }

  function keys<K>(find: (digests: readonly string[]) => Promise<FoundKeys<K>>): FindKey<K> {
    const batches = createFairBatches<string, Read<FoundKey<K>>>({
      ...bounds,
      maxBatch,
      async run(digests) {
        const readAt = changes.count()
        const rows = await find([...new Set(digests)])
        return digests.map((digest) => ({ value: rows.get(digest), readAt }))
      },
    })
    return (digest, address) => batches.submit(clientPrefixOf(address), digest)
  }

  const projects = createFairBatches<TokenProject, Awaited<ReturnType<Lookups['project']>>>({
    ...bounds,
    maxBatch: 1,
    run: (requests) =>
      Promise.all(
        requests.map(async ({ organizationId, projectId }) => {
          const readAt = changes.count()
          return { value: await store.findProject(organizationId, projectId), readAt }
        }),
      ),
  })

  return {
    apiKey: keys(store.findApiKeys),
    adminKey: keys(store.findAdminKeys),
    project: (of, address) => projects.submit(clientPrefixOf(address), of),
  }
}

const overflow = (): Fault =>
  new Fault('unavailable', 'unavailable', 'Too many key lookups are queued. Retry later.', { retryAfterSeconds: 1 })
