import { searchText } from '../../session/search-text.ts'

const dialogs = ['edit', 'delete'] as const

/** What the address of the page holds: the kind of a new sink, or the dialog about the open one. */
export type SinksSearch = {
  readonly new?: string | undefined
  readonly dialog?: (typeof dialogs)[number] | undefined
}

export const readSinksSearch = (search: Record<string, unknown>): SinksSearch => ({
  new: searchText(search['new']),
  dialog: dialogs.find((dialog) => dialog === search['dialog']),
})
