import { viewPages, type SavedView, type ViewReader, type ViewStore } from '../../../../domain/views/view-store.ts'
import type { Transaction } from '../database.ts'
import { countRows, selectPage, type Condition } from '../page.ts'

const columns = 'id, organization_id, owner_id, name, page, query, is_shared, created_at, updated_at'

const isVisible = (ownerId: string): Condition => ['(is_shared = 1 or owner_id = ?)', ownerId]

/** Views in SQL, in the given transaction. */
export const savedViewStore = (tx: Transaction): ViewStore => ({
  list: ({ organizationId, ownerId }, { page: of, ...page }) =>
    selectPage(
      tx,
      {
        table: 'saved_view',
        columns,
        where: { organization_id: organizationId },
        only: [isVisible(ownerId), ...(of === undefined ? [] : [['page = ?', of] as const])],
        map: viewOf,
      },
      page,
    ),
  async find({ organizationId, ownerId }: ViewReader, id) {
    const [row] = await tx.query<ViewRow>(
      `select ${columns} from saved_view where organization_id = $1 and id = $2 and (is_shared = 1 or owner_id = $3)`,
      [organizationId, id, ownerId],
    )
    return row && viewOf(row)
  },
  async insert(view) {
    await tx.run(`insert into saved_view (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
      view.id,
      view.organizationId,
      view.ownerId,
      view.name,
      view.page,
      view.query,
      view.isShared ? 1 : 0,
      view.createdAtMs,
      view.updatedAtMs,
    ])
  },
  async update({ organizationId, id, name, query, isShared, updatedAtMs }) {
    await tx.run(
      `update saved_view set name = $3, query = $4, is_shared = $5, updated_at = $6
       where organization_id = $1 and id = $2`,
      [organizationId, id, name, query, isShared ? 1 : 0, updatedAtMs],
    )
  },
  async delete(organizationId, id) {
    await tx.run('delete from saved_view where organization_id = $1 and id = $2', [organizationId, id])
  },
  count: ({ organizationId, ownerId }) =>
    countRows(tx, { table: 'saved_view', where: { organization_id: organizationId, owner_id: ownerId } }),
})

type ViewRow = {
  id: string
  organization_id: string
  owner_id: string
  name: string
  page: string
  query: string
  is_shared: number
  created_at: number
  updated_at: number
}

const viewOf = (row: ViewRow): SavedView => ({
  id: row.id,
  organizationId: row.organization_id,
  ownerId: row.owner_id,
  name: row.name,
  page: viewPages.find((page) => page === row.page) ?? 'requests',
  query: row.query,
  isShared: row.is_shared === 1,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})
