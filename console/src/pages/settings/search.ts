import { searchText } from '../../session/search-text.ts'

/** What the address of the page holds: the filter, and whether settings with their default are shown. */
export type SettingsSearch = { readonly search?: string | undefined; readonly defaults?: true | undefined }

export const readSettingsSearch = (search: Record<string, unknown>): SettingsSearch => ({
  search: searchText(search['search']),
  defaults: search['defaults'] === true ? true : undefined,
})
