import type { Clock } from '../../../base/clock.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { ModelSetOf } from '../../../domain/inference/model-set.ts'
import type { ListServedModels, ServedModel } from '../../../domain/inference/served-models.ts'
import type { ModelAdministration } from '../../../domain/organization-models/models.ts'
import type { OrganizationModelStore, StoredModel, StoredUpstream } from '../../../domain/organization-models/stored.ts'
import type { SystemVisibility } from '../system/authority.ts'
import type { EntrySchemas } from './stored.ts'

/** What the routes of models need. */
export type ModelRouteParts = SystemVisibility & {
  readonly clock: Clock
  readonly modelSetOf: ModelSetOf
  readonly listServedModels: ListServedModels
  /** A stored model as the catalogue has it. */
  readonly describeModel: (model: StoredModel, upstreams: readonly StoredUpstream[]) => ServedModel
  readonly models: ModelAdministration
  readonly schemas: EntrySchemas['model']
}

export type ModelStores = { readonly directory: DirectoryStore; readonly organizationModels: OrganizationModelStore }
