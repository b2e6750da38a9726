/** Where archived objects are kept. */
export const archiveTargets = ['folder', 's3'] as const
export type ArchiveTargetKind = (typeof archiveTargets)[number]

/** The port to the archive. Names have slashes between folders. */
export type ArchiveTarget = {
  readonly kind: ArchiveTargetKind
  /** Writes an object, durable once resolved. Never replaces one: then it resolves to `exists`. */
  create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'>
  read(name: string): Promise<Uint8Array>
}

/** The archive has another object under this name. It is never replaced, because it may be the only copy of its events. */
class ArchiveConflict extends Error {
  constructor(name: string) {
    super(
      `the archive has ${name} with other content; it is not replaced. Move it away, after you know where it is from`,
    )
    this.name = 'ArchiveConflict'
  }
}

/**
 * Writes an object, or finds that an interrupted run has written it. Returns the bytes that are in the archive. `isSame` decides
 * whether other bytes have the same meaning, for instance because another version of the compressor wrote them.
 */
export async function createOrKeep(
  target: ArchiveTarget,
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
  isSame: (existing: Uint8Array) => Promise<boolean> | boolean,
): Promise<Uint8Array> {
  if ((await target.create(name, bytes)) === 'created') return bytes
  const existing = await target.read(name)
  if (Buffer.compare(existing, bytes) === 0 || (await isSame(existing))) return existing
  throw new ArchiveConflict(name)
}
