import type { RedoFile } from '../../src/adapters/stores/sql/sqlite/redo-file.ts'

/** A file on a disk that can fail, and that can lose power. */
export type SimulatedFile = RedoFile & {
  /** The next write fails as on a full disk, after it has written this many bytes. */
  failAfter(bytes: number): void
  /** The next sync does not happen, and nothing after it. */
  cutPower(): void
  /** The file after power was lost. `survives` decides for each sector of the writes that were not synced. */
  afterPowerLoss(survives: () => boolean): SimulatedFile
}

const sectorBytes = 512

export function createSimulatedFile(content: Buffer = Buffer.alloc(0)): SimulatedFile {
  let synced = content
  let current = content
  let failsAfter: number | undefined
  let isPowerCut = false
  let isOff = false

  function write(bytes: Uint8Array, position: number): void {
    if (isOff) throw new Error('the power is off')
    const grown = Buffer.alloc(Math.max(current.length, position + bytes.length))
    current.copy(grown)
    grown.set(bytes, position)
    current = grown
  }
  return {
    write(bytes, position) {
      const allowed = failsAfter
      failsAfter = undefined
      write(bytes.subarray(0, allowed), position)
      if (allowed !== undefined) throw new Error('no space left on device')
    },
    sync() {
      isOff = isPowerCut
      if (isOff) throw new Error('the power is off')
      synced = current
    },
    read: () => Buffer.from(current),
    truncate(bytes) {
      if (isOff) throw new Error('the power is off')
      current = Buffer.from(current.subarray(0, bytes))
      synced = current
    },
    close() {},
    failAfter(bytes) {
      failsAfter = bytes
    },
    cutPower() {
      isPowerCut = true
    },
    afterPowerLoss(survives) {
      const found = Buffer.alloc(Math.max(synced.length, current.length))
      synced.copy(found)
      for (let at = 0; at < current.length; at += sectorBytes) {
        if (survives()) current.copy(found, at, at, Math.min(at + sectorBytes, current.length))
      }
      return createSimulatedFile(found)
    },
  }
}
