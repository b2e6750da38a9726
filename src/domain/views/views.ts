import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { requireName } from '../identity/bounds.ts'
import { holds, requirePermission, type Permission } from '../identity/permissions.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import type { SavedView, ViewPage, ViewReader, ViewStore } from './view-store.ts'

const maxViews = 100

/** Who saves, changes and deletes views, with these permissions. */
export type ViewAuthor = ViewReader & { readonly by: ReadonlySet<Permission> }

type NewView = {
  readonly name: string
  readonly page: ViewPage
  readonly query: string
  readonly isShared: boolean
}

/** Fields that are left out stay as they are. */
type ViewUpdate = {
  readonly name?: string | undefined
  readonly query?: string | undefined
  readonly isShared?: boolean | undefined
}

/** Needed to share a view, and to change a shared one. */
const sharing = 'policies:write'

export type Views = ReturnType<typeof createViews>

/** Saves, changes and deletes views. Changes of shared views have an audit record, because others rely on them. */
export function createViews({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async create(store: ViewStore, author: ViewAuthor, view: NewView): Promise<WithAuditRecord<SavedView>> {
      requireName(view.name)
      if (view.isShared) requirePermission(author.by, sharing)
      if ((await store.count(author)) >= maxViews)
        throw new Fault(
          'conflict',
          'view_limit_reached',
          `A key or member may save ${maxViews} views. Delete one first.`,
        )
      const { organizationId, ownerId } = author
      const nowMs = clock.nowMs()
      const value = { id: ids('view'), organizationId, ownerId, ...view, createdAtMs: nowMs, updatedAtMs: nowMs }
      await store.insert(value)
      return { value, ...recordOf(value, 'saved_view.created') }
    },

    async update(
      store: ViewStore,
      { id, ...author }: ViewAuthor & { readonly id: string },
      { name, query, isShared }: ViewUpdate,
    ): Promise<WithAuditRecord<SavedView>> {
      const before = await findView(store, author, id)
      requireOwner(before, author)
      if (name !== undefined) requireName(name)
      const after = {
        ...before,
        name: name ?? before.name,
        query: query ?? before.query,
        isShared: isShared ?? before.isShared,
      }
      const details = changedValues(auditedFields(before), auditedFields(after))
      if (Object.keys(details).length === 0) return { value: before }
      const wasOrIsShared = before.isShared || after.isShared
      if (wasOrIsShared) requirePermission(author.by, sharing)
      const value = { ...after, updatedAtMs: clock.nowMs() }
      await store.update(value)
      return { value, ...(wasOrIsShared && { record: { kind: 'saved_view.updated', resourceId: id, details } }) }
    },

    async remove(
      store: ViewStore,
      { id, ...author }: ViewAuthor & { readonly id: string },
    ): Promise<WithAuditRecord<SavedView>> {
      const view = await findView(store, author, id)
      requireOwner(view, author)
      await store.delete(author.organizationId, id)
      return { value: view, ...recordOf(view, 'saved_view.deleted') }
    },
  }
}

export async function findView(store: Pick<ViewStore, 'find'>, reader: ViewReader, id: string): Promise<SavedView> {
  const view = await store.find(reader, id)
  if (view) return view
  throw new Fault('not_found', 'not_found', `There is no view ${id}.`)
}

function requireOwner({ ownerId }: SavedView, author: ViewAuthor): void {
  if (ownerId === author.ownerId || holds(author.by, '*')) return
  const message = 'Only the owner of the view, or a credential with the permission *, can change or delete it.'
  throw new Fault('permission', 'permission_denied', message)
}

const auditedFields = ({ name, page, query, isShared }: SavedView): AuditRecord['details'] => ({
  name,
  page,
  query,
  shared: isShared,
})

const recordOf = (view: SavedView, kind: AuditRecord['kind']): { readonly record?: AuditRecord } =>
  view.isShared ? { record: { kind, resourceId: view.id, details: auditedFields(view) } } : {}
