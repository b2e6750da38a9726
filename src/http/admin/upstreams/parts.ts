import type { Clock } from '../../../base/clock.ts'
import type { Upstreams } from '../../../domain/inference/upstream-status.ts'
import type { OrganizationModelStore } from '../../../domain/organization-models/stored.ts'
import type { UpstreamAdministration } from '../../../domain/organization-models/upstreams.ts'
import type { EntrySchemas } from '../models/stored.ts'
import type { NodeIdentity, SystemVisibility } from '../system/authority.ts'
import type { PresentStored } from './present.ts'

/** What the routes of upstreams need. */
export type UpstreamRouteParts = SystemVisibility & {
  readonly clock: Clock
  readonly upstreams: Upstreams
  readonly node: NodeIdentity
  readonly administration: UpstreamAdministration
  readonly schemas: EntrySchemas['upstream']
  readonly presentStored: PresentStored
}

export type UpstreamStores = { readonly organizationModels: OrganizationModelStore }
