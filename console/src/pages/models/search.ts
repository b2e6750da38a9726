import { searchText } from '../../session/search-text.ts'

/** What the address of the page holds: the model whose details are open, or the upstream that is probed. */
export type ModelsSearch = { readonly model?: string | undefined; readonly probe?: string | undefined }

export const readModelsSearch = (search: Record<string, unknown>): ModelsSearch => ({
  model: searchText(search['model']),
  probe: searchText(search['probe']),
})
