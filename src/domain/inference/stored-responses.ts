/** An item in the format of the Responses API, stored as it was sent. */
export type StoredItem = Readonly<Record<string, unknown>>

export type StoredResponse = {
  readonly id: string
  readonly organizationId: string
  readonly projectId: string
  readonly previousId: string | null
  /** The input items of this request, without those of the previous responses. */
  readonly input: readonly StoredItem[]
  readonly document: Readonly<Record<string, unknown>>
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** A response as a part of a conversation. A deleted one has no items, and still names the response before it. */
export type StoredTurn = Pick<StoredResponse, 'id' | 'previousId' | 'input' | 'document'> & {
  readonly isDeleted: boolean
}

/** The port to stored responses (`store: true`). A project sees only its own responses, and none past `expiresAtMs`. */
export type StoredResponses = {
  save(response: StoredResponse): Promise<void>
  find(projectId: string, id: string, nowMs: number): Promise<StoredResponse | undefined>
  findTurn(projectId: string, id: string, nowMs: number): Promise<StoredTurn | undefined>
  /** The output items with these ids. */
  findItems(projectId: string, ids: readonly string[], nowMs: number): Promise<ReadonlyMap<string, StoredItem>>
  /** Removes its texts and items. The responses after it stay. */
  remove(projectId: string, id: string): Promise<boolean>
  removeExpired(nowMs: number): Promise<void>
}

export const outputItemsOf = (document: StoredResponse['document']): readonly StoredItem[] =>
  Array.isArray(document['output']) ? document['output'].filter(isItem) : []

const isItem = (value: unknown): value is StoredItem => typeof value === 'object' && value !== null
