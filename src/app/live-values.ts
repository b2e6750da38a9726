import { repeat, type Clock } from '../base/clock.ts'
import { messageOf } from '../base/fault.ts'
import type { FileValue } from '../config/file-values.ts'

/** Texts of the configuration that follow their files. */
export type LiveValues = {
  /** The newest text of a field that is taken from a file; for every other field what was configured. */
  read<T extends string | undefined>(field: string, configured: T): T | string
  /** Counts up with every change, for those who keep what they made of the texts. */
  version(): number
  /** Every text that was read, which no log may show. */
  texts(): readonly string[]
}

export type LiveValuesParts = {
  readonly clock: Clock
  readonly warn: (message: string) => void
  readonly info: (message: string) => void
}

/**
 * The whole file is read, and read again: a Kubernetes volume swaps a symbolic link above it, of which a watch on the file hears nothing.
 * Few files are named, and each is small.
 */
const readEveryMs = 2_000

/** Follows the files. One that is missing or empty leaves the text as it was: a half-written secret must stop no request. */
export function watchFileValues(files: readonly FileValue[], parts: LiveValuesParts): LiveValues & Disposable {
  const values = new Map<string, string>()
  const problems = new Map<string, string>()
  const seen = new Set<string>()
  let version = 0

  const readAgain = ({ field, read }: FileValue): void => {
    try {
      const text = read()
      if (problems.delete(field)) parts.info(`${field}: its file can be read again`)
      if (values.get(field) === text) return
      if (values.has(field)) parts.info(`${field}: its file changed, and the new value is used from now on`)
      values.set(field, text)
      seen.add(text)
      version += 1
    } catch (error) {
      const problem = messageOf(error)
      if (problems.get(field) === problem) return
      problems.set(field, problem)
      parts.warn(`${problem}; the value before is kept`)
    }
  }

  const readAll = async (): Promise<void> => files.forEach(readAgain)
  files.forEach(readAgain)
  const watching = files.length === 0 ? undefined : repeat(parts.clock, readAll, readEveryMs)
  return {
    read: (field, configured) => values.get(field) ?? configured,
    version: () => version,
    texts: () => [...seen],
    [Symbol.dispose]: () => watching?.[Symbol.dispose](),
  }
}
