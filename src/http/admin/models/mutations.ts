import type { KeysByModels } from '../../../domain/identity/store.ts'
import type { ServedModel } from '../../../domain/inference/served-models.ts'
import type { StoredModel } from '../../../domain/organization-models/stored.ts'
import { revisionTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import type { ModelRouteParts, ModelStores } from './parts.ts'
import { presentModel, type CatalogueEntry, type IsServedBy } from './present.ts'
import { DeletedModel, ServedModelObject } from './schema.ts'
import { entryAt, entryParams, newEntryOf, patchOf } from './stored.ts'

const modelsPath = '/v1/organization/models'
const modelPath = `${modelsPath}/{model_id}`

const answer = { description: 'The model.', schema: ServedModelObject }

type DescribedModel = {
  readonly id: string
  readonly revision: number
  readonly model: ServedModel
  readonly keys: readonly KeysByModels[]
}

/** Used before the catalogue has the entry. */
const isServedByName: IsServedBy = (name, { name: entry }) =>
  entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry

/** The changes of models that an organization added. */
export function modelMutations(
  { mutation }: AdminRoutes<ModelStores>,
  { clock, models, schemas, describeModel }: ModelRouteParts,
): Route[] {
  /** What the response to a mutation needs, read in its transaction. */
  const described = async (stores: ModelStores, stored: StoredModel): Promise<DescribedModel> => {
    const { organizationId } = stored
    const [upstreams, keys] = await Promise.all([
      stores.organizationModels.listUpstreams(organizationId),
      stores.directory.countKeysByModels(organizationId, clock.nowMs()),
    ])
    return { id: stored.id, revision: stored.revision, model: describeModel(stored, upstreams), keys }
  }

  const present = ({ model, keys }: DescribedModel): CatalogueEntry => ({
    ...presentModel(model, keys, isServedByName),
    defined_in: { ...model.definedIn },
  })

  return [
    mutation({
      name: 'createModel',
      method: 'POST',
      path: modelsPath,
      summary: 'Add a model',
      description:
        'The model belongs to the organization; no other can see or use it. It can be requested as soon as the response is sent, on other nodes within a second. Fields and limits are those of the configuration file. Responds with 409 if the installation or the organization has a model of this name; an exact name takes precedence over a prefix such as `gpt-*`.',
      permission: 'models:write',
      params: none,
      query: none,
      body: schemas.create,
      status: 201,
      answer,
      async operation(stores, { actor, body }) {
        const { id, metered } = actor.organization
        const done = await models.create(stores.organizationModels, { id, metered }, newEntryOf(body))
        return { ...done, value: await described(stores, done.value) }
      },
      managed: ({ id }) => ({ id, kind: 'model.updated' }),
      present,
      tag: revisionTag,
    }),
    mutation({
      name: 'updateModel',
      method: 'PATCH',
      path: modelPath,
      summary: 'Change a model',
      description:
        'Null gives a field its default. `targets` is replaced as a whole, and its order is the order in which they are tried; `price` is merged. A change takes effect for requests that start after it. Models of the installation can only be changed in its configuration (409).',
      permission: 'models:write',
      params: entryParams.model,
      query: none,
      body: schemas.update,
      takesIfMatch: true,
      answer,
      async operation(stores, input) {
        const { id, metered } = input.actor.organization
        const change = { at: entryAt(input, input.params.model_id), patch: patchOf(input.body) }
        const done = await models.update(stores.organizationModels, { id, metered }, change)
        return { ...done, value: await described(stores, done.value) }
      },
      managed: ({ id }) => ({ id, kind: 'model.updated' }),
      present,
      tag: revisionTag,
    }),
    mutation({
      name: 'deleteModel',
      method: 'DELETE',
      path: modelPath,
      summary: 'Delete a model',
      description: 'Requests that already run are not affected.',
      permission: 'models:write',
      params: entryParams.model,
      query: none,
      body: none,
      takesIfMatch: true,
      answer: { description: 'The deleted model.', schema: DeletedModel },
      operation: ({ organizationModels }, input) =>
        models.remove(organizationModels, entryAt(input, input.params.model_id)),
      removes: ({ id }) => ({ id }),
      present: ({ id, name }) => ({ object: 'organization.model.deleted', id, name, deleted: true }),
    }),
  ]
}
