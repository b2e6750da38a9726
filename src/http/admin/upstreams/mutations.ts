import { revisionTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { entryAt, entryParams, newEntryOf, patchOf } from '../models/stored.ts'
import type { AdminRoutes } from '../routes.ts'
import { presentUpstream } from './present.ts'
import type { UpstreamRouteParts, UpstreamStores } from './parts.ts'
import { DeletedUpstream, UpstreamObject } from './schema.ts'

const upstreamsPath = '/v1/organization/upstreams'
const upstreamPath = `${upstreamsPath}/{upstream_id}`

const answer = { description: 'The upstream.', schema: UpstreamObject }

/** The changes of upstreams that an organization added. */
export function upstreamMutations(
  { mutation }: AdminRoutes<UpstreamStores>,
  { clock, administration, schemas, presentStored }: UpstreamRouteParts,
): Route[] {
  return [
    mutation({
      name: 'createUpstream',
      method: 'POST',
      path: upstreamsPath,
      summary: 'Add an upstream',
      description:
        'The upstream belongs to the organization; no other can see or use it. Fields and limits are those of the configuration file, but `${NAME}` and `${file:PATH}` are rejected. Secrets are stored encrypted. Link-local addresses and the metadata services of clouds are rejected, private addresses where the operator says so. Responds with 409 if the installation or the organization has an upstream of this name.',
      permission: 'models:write',
      params: none,
      query: none,
      body: schemas.create,
      status: 201,
      answer,
      prepare: (_reads, { body }) => administration.newAddressProblem(newEntryOf(body).settings),
      operation: ({ organizationModels: store }, { actor, body, prepared: addressProblem }) =>
        administration.create(store, actor.organization.id, { ...newEntryOf(body), addressProblem }),
      managed: ({ id }) => ({ id, kind: 'upstream.updated' }),
      present: (stored) => presentUpstream(presentStored(stored), clock.nowMs()),
      tag: revisionTag,
    }),
    mutation({
      name: 'updateUpstream',
      method: 'PATCH',
      path: upstreamPath,
      summary: 'Change an upstream',
      description:
        'Null gives a field its default, and a masked secret keeps the stored one. If the destination changes, the secrets must be sent again. While it is `paused`, models go on with their next target. Running calls end as they began. Upstreams of the installation can only be changed in its configuration (409).',
      permission: 'models:write',
      params: entryParams.upstream,
      query: none,
      body: schemas.update,
      takesIfMatch: true,
      answer,
      prepare: ({ organizationModels: store }, { actor, params, body }) =>
        administration.changedAddressProblem(store, entryAt({ actor }, params.upstream_id), patchOf(body)),
      operation: ({ organizationModels: store }, { prepared: addressProblem, ...input }) =>
        administration.update(store, entryAt(input, input.params.upstream_id), {
          ...patchOf(input.body),
          addressProblem,
        }),
      managed: ({ id }) => ({ id, kind: 'upstream.updated' }),
      present: (stored) => presentUpstream(presentStored(stored), clock.nowMs()),
      tag: revisionTag,
    }),
    mutation({
      name: 'deleteUpstream',
      method: 'DELETE',
      path: upstreamPath,
      summary: 'Delete an upstream',
      description: 'Responds with 409 `upstream_in_use` while a model of the organization names it.',
      permission: 'models:write',
      params: entryParams.upstream,
      query: none,
      body: none,
      takesIfMatch: true,
      answer: { description: 'The deleted upstream.', schema: DeletedUpstream },
      operation: ({ organizationModels: store }, input) =>
        administration.remove(store, entryAt(input, input.params.upstream_id)),
      removes: ({ id }) => ({ id }),
      present: ({ id, name }) => ({ object: 'organization.upstream.deleted', id, name, deleted: true }),
    }),
  ]
}
