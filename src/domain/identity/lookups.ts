import { createFairBatches } from '../../base/fair-batches.ts'
import { Fault } from '../../base/fault.ts'
import { clientPrefixOf } from './free-request.ts'
import type { Changes } from './changes.ts'
import type { AdminKey, ApiKey, Organization, Project } from './principal.ts'
import type { CredentialStore, FoundKey, FoundKeys } from './store.ts'

/** `readAt` is the count of changes before the read: what was read is stale after a later change. */
export type Read<T> = { readonly found: T | undefined; readonly readAt: number }

export type FindKey<K> = (digest: string, address: string) => Promise<Read<FoundKey<K>>>

/** What a token says about itself, once its signature is checked. */
export type TokenProject = { readonly organizationId: string; readonly projectId: string }

export type Lookups = {
  readonly apiKey: FindKey<ApiKey>
  readonly adminKey: FindKey<AdminKey>
  readonly project: (
    place: TokenProject,
    address: string,
  ) => Promise<Read<{ readonly project: Project; readonly organization: Organization }>>
}

const maxConcurrent = 4
const maxBatch = 512
/** Storage reads `maxBatch` keys at once, so that an address has as many waiting only while storage hangs. */
const maxWaiting = 10_000

/**
 * Reads of credentials that are not cached. Anybody can invent keys with a correct checksum, so the load that they put
 * on storage is bounded: few queries run at once, each for many keys, and addresses take turns.
 */
export function createLookups(store: CredentialStore, changes: Changes): Lookups {
  const bounds = { maxConcurrent, maxWaiting, overflow }

  function keys<K>(find: (digests: readonly string[]) => Promise<FoundKeys<K>>): FindKey<K> {
    const batches = createFairBatches<string, Read<FoundKey<K>>>({
      ...bounds,
      maxBatch,
      async run(digests) {
        const readAt = changes.count()
        const found = await find([...new Set(digests)])
        return digests.map((digest) => ({ found: found.get(digest), readAt }))
      },
    })
    return (digest, address) => batches.submit(clientPrefixOf(address), digest)
  }

  const projects = createFairBatches<TokenProject, Awaited<ReturnType<Lookups['project']>>>({
    ...bounds,
    maxBatch: 1,
    run: (places) =>
      Promise.all(
        places.map(async ({ organizationId, projectId }) => {
          const readAt = changes.count()
          return { found: await store.findProject(organizationId, projectId), readAt }
        }),
      ),
  })

  return {
    apiKey: keys(store.findApiKeys),
    adminKey: keys(store.findAdminKeys),
    project: (place, address) => projects.submit(clientPrefixOf(address), place),
  }
}

const overflow = (): Fault =>
  new Fault('unavailable', 'unavailable', 'Too many keys wait to be looked up; ask again.', { retryAfterSeconds: 1 })
