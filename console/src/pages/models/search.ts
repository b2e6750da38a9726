import { searchText } from '../../session/search-text.ts'

/** What the address of the page holds: the model whose details are open, the upstream that is probed, or the form that is open. */
export type ModelsSearch = {
  readonly model?: string | undefined
  readonly probe?: string | undefined
  readonly add?: 'upstream' | 'model' | undefined
  /** The name of a model, or the id of an upstream. */
  readonly edit?: string | undefined
}

export const readModelsSearch = (search: Record<string, unknown>): ModelsSearch => ({
  model: searchText(search['model']),
  probe: searchText(search['probe']),
  add: search['add'] === 'upstream' || search['add'] === 'model' ? search['add'] : undefined,
  edit: searchText(search['edit']),
})
