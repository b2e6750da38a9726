import type { Page, Paged } from '../identity/store.ts'

/** The pages of the console that views can be saved of. */
export const viewPages = ['overview', 'requests', 'policies', 'projects', 'limits', 'audit'] as const
export type ViewPage = (typeof viewPages)[number]

/** A named state of a page of the console. */
export type SavedView = {
  readonly id: string
  readonly organizationId: string
  /** The administrator key or member that saved it. */
  readonly ownerId: string
  readonly name: string
  readonly page: ViewPage
  /** The query of the page's address. */
  readonly query: string
  /** Seen by everybody who may read requests. Others are seen by their owner only. */
  readonly isShared: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Who reads views. */
export type ViewReader = { readonly organizationId: string; readonly ownerId: string }

export type ViewListPage = Page & { readonly page?: ViewPage }

/** The storage of views. A reader finds its own views and shared ones. */
export type ViewStore = {
  list(reader: ViewReader, page: ViewListPage): Promise<Paged<SavedView>>
  find(reader: ViewReader, id: string): Promise<SavedView | undefined>
  insert(view: SavedView): Promise<void>
  /** Writes name, query, whether it is shared, and the time. */
  update(view: SavedView): Promise<void>
  delete(organizationId: string, id: string): Promise<void>
  /** How many views this owner has saved. */
  count(reader: ViewReader): Promise<number>
}
