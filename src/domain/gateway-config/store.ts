import type { Page, Paged } from '../identity/store.ts'
import type { GatewayConfiguration, SavedConfiguration } from './configuration.ts'

/** Gateway configurations as they are kept: one in force per organization, and every earlier one. */
export type GatewayStore = {
  find(organizationId: string): Promise<SavedConfiguration | undefined>
  /** Writes the next version where `version` is still the latest (0 for none); false where it is not. Ends a rollback. */
  save(organizationId: string, config: GatewayConfiguration, at: SaveAt): Promise<boolean>
  /** Takes this version out of force after a spike; false where it is no longer the latest, or is out already. */
  rollBack(organizationId: string, version: number): Promise<boolean>
  /** Every version that was saved, by its id. */
  listVersions(organizationId: string, page: Page): Promise<Paged<ConfigurationVersion>>
}

export type SaveAt = { readonly id: string; readonly version: number; readonly nowMs: number }

export type ConfigurationVersion = {
  readonly id: string
  readonly version: number
  readonly config: GatewayConfiguration
  readonly createdAtMs: number
}
