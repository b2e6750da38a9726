import type { ListServedModels } from '../domain/inference/served-models.ts'
import type { Upstreams } from '../domain/inference/upstream-status.ts'
import type { InstallationEntries } from '../domain/organization-models/installation.ts'
import type { StorageStatus } from '../domain/system/storage-status.ts'
import type { ReadSystem } from '../domain/system/system.ts'
import type { NodeIdentity } from '../http/admin/system/authority.ts'

/** What is known of the installation. */
export type InstallationParts = {
  readonly listServedModels: ListServedModels
  readonly upstreams: Upstreams
  readonly entries: InstallationEntries
  readonly node: NodeIdentity
  readonly readSystem: ReadSystem
  readonly readStorage: () => Promise<StorageStatus>
}
