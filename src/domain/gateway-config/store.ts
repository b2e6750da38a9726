import type { Page, Paged } from '../identity/store.ts'
import type { GatewayConfiguration, SavedConfiguration } from './configuration.ts'

/** Storage of gateway configurations: the current one of each organization, and all versions. */
export type GatewayStore = {
  find(organizationId: string): Promise<SavedConfiguration | undefined>
  /** Compare-and-set: writes the next version if `version` is still the latest (0 for none). Ends a rollback. */
  save(organizationId: string, config: GatewayConfiguration, at: SaveAt): Promise<boolean>
  /** Disables this version after a denial spike. Returns false if it is not the latest or is disabled already. */
  rollBack(organizationId: string, version: number): Promise<boolean>
  findVersion(organizationId: string, version: number): Promise<GatewayConfiguration | undefined>
  /** Whether this configuration was saved before. */
  hasVersion(organizationId: string, config: GatewayConfiguration): Promise<boolean>
  /** All saved versions, by id. */
  listVersions(organizationId: string, page: Page): Promise<Paged<ConfigurationVersion>>
}

export type SaveAt = {
  readonly id: string
  readonly version: number
  readonly nowMs: number
  /** The id of the key or member. */
  readonly savedBy: string
}

export type ConfigurationVersion = {
  readonly id: string
  readonly version: number
  readonly config: GatewayConfiguration
  readonly createdAtMs: number
  /** The id of the key or member; null for a version from before authors were recorded. */
  readonly createdBy: string | null
}
