import { searchText } from '../../session/search-text.ts'

export const tabs = ['keys', 'projects', 'administrators'] as const
export type Tab = (typeof tabs)[number]

export const dialogs = ['create', 'edit', 'rotate', 'revoke', 'archive', 'unarchive'] as const
export type DialogName = (typeof dialogs)[number]

/** The statuses that each list can be filtered by. */
export const statusesOf = {
  keys: ['active', 'expired', 'revoked'],
  projects: ['active', 'archived'],
  administrators: ['active', 'expired', 'revoked'],
} as const satisfies Record<Tab, readonly string[]>

/** What the address of the page holds: the tab, the filters, and the open dialog with the id of its object. */
export type ProjectsSearch = {
  readonly tab?: Tab | undefined
  readonly search?: string | undefined
  readonly status?: 'active' | 'expired' | 'revoked' | 'archived' | undefined
  readonly project_id?: string | undefined
  readonly dialog?: DialogName | undefined
  readonly id?: string | undefined
}

export function readProjectsSearch(search: Record<string, unknown>): ProjectsSearch {
  const tab = tabs.find((each) => each === search['tab'])
  return {
    tab: tab === 'keys' ? undefined : tab,
    search: searchText(search['search']),
    status: statusesOf[tab ?? 'keys'].find((each) => each === search['status']),
    project_id: searchText(search['project_id']),
    dialog: dialogs.find((each) => each === search['dialog']),
    id: searchText(search['id']),
  }
}
