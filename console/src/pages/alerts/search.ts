import { searchText } from '../../session/search-text.ts'

export const tabs = ['rules', 'channels', 'history'] as const
export type Tab = (typeof tabs)[number]

export const dialogs = ['create', 'edit', 'test', 'pause', 'resume', 'delete'] as const
export type DialogName = (typeof dialogs)[number]

/** What the address of the page holds: the tab, and the open dialog with the id of its object. */
export type AlertsSearch = {
  readonly tab?: Tab | undefined
  readonly dialog?: DialogName | undefined
  readonly id?: string | undefined
}

export function readAlertsSearch(search: Record<string, unknown>): AlertsSearch {
  const tab = tabs.find((each) => each === search['tab'])
  return {
    tab: tab === 'rules' ? undefined : tab,
    dialog: dialogs.find((each) => each === search['dialog']),
    id: searchText(search['id']),
  }
}
