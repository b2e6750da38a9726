import { searchText } from '../../session/search-text.ts'

/** What the address of the page holds: the judge whose figures are shown, or the form that is open. */
export type JudgesSearch = { readonly judge?: string | undefined; readonly add?: true | undefined }

export const readJudgesSearch = (search: Record<string, unknown>): JudgesSearch => ({
  judge: searchText(search['judge']),
  add: search['add'] === true ? true : undefined,
})
