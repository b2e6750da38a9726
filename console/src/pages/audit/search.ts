import { searchText } from '../../session/search-text.ts'

const views = ['events', 'verify'] as const
export type AuditView = (typeof views)[number]

/** What the address of the page holds beside the time range and the open event. */
export type AuditSearch = {
  readonly view?: AuditView | undefined
  readonly event_kind?: string | undefined
  readonly actor_id?: string | undefined
}

export const readAuditSearch = (search: Record<string, unknown>): AuditSearch => ({
  view: views.find((view) => view === search['view']),
  event_kind: searchText(search['event_kind']),
  actor_id: searchText(search['actor_id']),
})
