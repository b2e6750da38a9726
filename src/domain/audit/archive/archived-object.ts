import type { Page, Paged } from '../../identity/store.ts'
import type { ArchiveTargetKind } from './target.ts'

/** The events of one object in the archive. */
export type ArchivedRange = {
  readonly organizationId: string
  readonly first: number
  readonly last: number
  /** In UTC, such as 2026-11-17: when its last event was signed. */
  readonly day: string
}

/** An object that was written to the archive. */
export type ArchivedObject = ArchivedRange & {
  readonly id: string
  readonly target: ArchiveTargetKind
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  readonly writtenAtMs: number
}

/** The list of objects that were written to the archive. */
export type ArchiveStore = {
  list(organizationId: string, page: Page): Promise<Paged<ArchivedObject>>
}

/** An organization's id is one segment of the name, whatever characters it has. */
export const folderOf = (organizationId: string): string =>
  encodeURIComponent(organizationId).replaceAll('.', '%2E').replaceAll('*', '%2A')

/** Names sort by day and by sequence. */
export const nameOf = ({ organizationId, day, first, last }: ArchivedRange): string =>
  `${folderOf(organizationId)}/${day.replaceAll('-', '/')}/${digits(first)}-${digits(last)}${eventsSuffix}`

export const eventsSuffix = '.ndjson.zst'
export const manifestSuffix = '.manifest.json'

export const manifestNameOf = (name: string): string => name.slice(0, -eventsSuffix.length) + manifestSuffix

const digits = (sequence: number): string => String(sequence).padStart(12, '0')
