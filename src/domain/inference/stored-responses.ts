/** Items and documents of the responses dialect, kept as they were written. */
export type StoredItem = Readonly<Record<string, unknown>>

export type StoredResponse = {
  readonly id: string
  readonly organizationId: string
  readonly projectId: string
  readonly previousId: string | null
  /** The items that were new in its request. */
  readonly input: readonly StoredItem[]
  readonly document: Readonly<Record<string, unknown>>
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** The port to what is kept of earlier responses. A project sees its own alone, and nothing past its time. */
export type StoredResponses = {
  save(response: StoredResponse): Promise<void>
  find(projectId: string, id: string, nowMs: number): Promise<StoredResponse | undefined>
  /** The output items with these ids. */
  findItems(projectId: string, ids: readonly string[], nowMs: number): Promise<ReadonlyMap<string, StoredItem>>
  remove(projectId: string, id: string): Promise<boolean>
  removeExpired(nowMs: number): Promise<void>
}

export const outputItemsOf = (document: StoredResponse['document']): readonly StoredItem[] =>
  Array.isArray(document['output']) ? document['output'].filter(isItem) : []

const isItem = (value: unknown): value is StoredItem => typeof value === 'object' && value !== null
