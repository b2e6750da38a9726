/** The first row that is inconsistent with the others. */
export type BrokenRow = { readonly table: string; readonly id: string; readonly says: string }

/** What was checked. */
export type LedgerCounts = {
  readonly organizations: number
  readonly entries: number
  readonly charges: number
  readonly slices: number
}

export type LedgerVerification = LedgerCounts & {
  /** Organizations whose older entries and charges were not read, because a full verification had found them consistent. */
  readonly continued: number
  readonly broken: BrokenRow | null
}

/** How many rows a running verification has read, and about how many there are. */
export type LedgerProgress = { readonly checked: number; readonly total: number }

export type AccountSums = {
  readonly granted: number
  readonly available: number
  readonly held: number
  readonly spent: number
}

export type SliceSums = { readonly amount: number; readonly settled: number; readonly held: number }

/** The sums of an organization's entries up to one of them, which a full verification found consistent. */
export type LedgerCheckpoint = {
  readonly organizationId: string
  readonly lastEntryId: string
  /** Entries that were written later are not part of the sums. */
  readonly timeMs: number
  readonly account: AccountSums
  /** Slices that an entry may still change. */
  readonly slices: readonly (readonly [id: string, sums: SliceSums])[]
}

/** What replaced the oldest entries of an organization, which were removed. */
export type LedgerBalances = {
  readonly balances: ReadonlyMap<string, LedgerCheckpoint>
  /** Organizations whose balance no accepted server secret decrypts. */
  readonly unreadable: readonly string[]
}

export const noBalances: LedgerBalances = { balances: new Map(), unreadable: [] }
