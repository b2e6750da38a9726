import { searchText } from '../../session/search-text.ts'

export const tabs = ['people', 'roles', 'signIns'] as const
export type Tab = (typeof tabs)[number]

export const dialogs = ['invite', 'edit', 'suspend', 'activate', 'remove', 'end'] as const
export type DialogName = (typeof dialogs)[number]

export const statuses = ['invited', 'active', 'suspended'] as const

/** From the highest, as the server orders them. */
export const roleNames = ['owner', 'publisher', 'author', 'developer', 'billing', 'auditor', 'reviewer'] as const

/** What the address of the page holds: the tab, the filters, and the open dialog with the id of its object. */
export type MembersSearch = {
  readonly tab?: Tab | undefined
  readonly search?: string | undefined
  readonly role?: (typeof roleNames)[number] | undefined
  readonly status?: (typeof statuses)[number] | undefined
  readonly dialog?: DialogName | undefined
  readonly id?: string | undefined
}

export function readMembersSearch(search: Record<string, unknown>): MembersSearch {
  const tab = tabs.find((each) => each === search['tab'])
  return {
    tab: tab === 'people' ? undefined : tab,
    search: searchText(search['search']),
    role: roleNames.find((each) => each === search['role']),
    status: statuses.find((each) => each === search['status']),
    dialog: dialogs.find((each) => each === search['dialog']),
    id: searchText(search['id']),
  }
}
