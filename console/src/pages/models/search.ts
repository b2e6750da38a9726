/** What the address of the page holds: the model whose details are open, or the upstream that is probed. */
export type ModelsSearch = { readonly model?: string | undefined; readonly probe?: string | undefined }

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const readModelsSearch = (search: Record<string, unknown>): ModelsSearch => ({
  model: textIn(search['model']),
  probe: textIn(search['probe']),
})
