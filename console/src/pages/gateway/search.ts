export const views = ['form', 'json', 'cases', 'replay', 'versions'] as const

/** What the address of the page holds: which view of the configuration is open. */
export type GatewaySearch = { readonly view?: (typeof views)[number] | undefined }

export const readGatewaySearch = (search: Record<string, unknown>): GatewaySearch => ({
  view: views.find((view) => view === search['view']),
})
