import type { Administrator } from '../../../domain/identity/principal.ts'
import type { SavedView, ViewStore } from '../../../domain/views/view-store.ts'
import { findView, type ViewAuthor, type Views } from '../../../domain/views/views.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './schema.ts'

const path = '/v1/organization/views'
const one = `${path}/{view_id}`
const answer = { description: 'The view.', schema: Schema.ViewObject }

type Stores = { readonly views: ViewStore }

/** `/v1/organization/views`: named states of pages of the console. */
export function viewRoutes({ read, mutation }: AdminRoutes<Stores>, views: Views): Route[] {
  return [
    read({
      name: 'listViews',
      path,
      summary: 'List saved views',
      description: 'The views of the caller, and those that are shared.',
      permission: 'audit:read',
      params: none,
      query: Schema.ViewQuery,
      answer: { description: 'A page of views.', schema: Schema.ViewList },
      async operation({ views: store }, { actor, query: { page, ...query } }) {
        const reader = authorOf(actor)
        const found = await store.list(reader, { ...pageOf(query), ...omitUndefined({ page }) })
        return presentList(found, Schema.viewPresenter(reader))
      },
    }),
    mutation({
      name: 'createView',
      method: 'POST',
      path,
      summary: 'Save a view',
      description: 'Needs `policies:write` to share it. Saving a shared view is an event of the audit log.',
      permission: 'audit:read',
      params: none,
      query: none,
      body: Schema.CreateView,
      status: 201,
      answer,
      operation: async ({ views: store }, { actor, body: { shared = false, ...view } }) =>
        asSeenBy(actor, await views.create(store, authorOf(actor), { ...view, isShared: shared })),
      present: (body) => body,
    }),
    read({
      name: 'getView',
      path: one,
      summary: 'Read a saved view',
      permission: 'audit:read',
      params: Schema.ViewParams,
      query: none,
      answer,
      tag: contentTag,
      async operation({ views: store }, { actor, params }) {
        const reader = authorOf(actor)
        return Schema.viewPresenter(reader)(await findView(store, reader, params.view_id))
      },
    }),
    mutation({
      name: 'updateView',
      method: 'PATCH',
      path: one,
      summary: 'Rename, change or share a saved view',
      description:
        'Fields that are left out stay as they are. Only its owner, or a credential with the permission `*`, can change a view. If it was shared or becomes so, `policies:write` is needed, and the change is an event of the audit log.',
      permission: 'audit:read',
      params: Schema.ViewParams,
      query: none,
      body: Schema.UpdateView,
      answer,
      operation: async ({ views: store }, { actor, params, body: { name, query, shared } }) =>
        asSeenBy(
          actor,
          await views.update(store, { ...authorOf(actor), id: params.view_id }, { name, query, isShared: shared }),
        ),
      present: (body) => body,
    }),
    mutation({
      name: 'deleteView',
      method: 'DELETE',
      path: one,
      summary: 'Delete a saved view',
      description: 'Only its owner, or a credential with the permission `*`, can delete a view.',
      permission: 'audit:read',
      params: Schema.ViewParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted view.', schema: Schema.DeletedView },
      operation: ({ views: store }, { actor, params }) =>
        views.remove(store, { ...authorOf(actor), id: params.view_id }),
      present: ({ id }) => ({ id, object: 'organization.view.deleted', deleted: true }),
    }),
  ]
}

const authorOf = ({ id, organization, permissions }: Administrator): ViewAuthor => ({
  organizationId: organization.id,
  ownerId: id,
  by: permissions,
})

const asSeenBy = <Rest>(actor: Administrator, { value, ...rest }: Rest & { readonly value: SavedView }) => ({
  ...rest,
  value: Schema.viewPresenter(authorOf(actor))(value),
})
