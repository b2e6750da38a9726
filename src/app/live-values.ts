import { messageOf } from '../base/fault.ts'
import type { FileValue } from '../config/file-values.ts'

/** Values of the configuration that are reloaded from their files. */
export type LiveValues = {
  /** The current value of a field that comes from a file; for every other field the configured value. */
  read<T extends string | undefined>(field: string, configured: T): T | string
  /** Increases with every change, so that derived values can be cached. */
  version(): number
  /** Every value that was ever read, to be redacted from logs. */
  texts(): readonly string[]
}

export type ReloadedValues = LiveValues & {
  /** Reads all files again. A job calls it every two seconds; never fails. */
  reload(): Promise<void>
}

export type LiveValuesParts = {
  readonly warn: (message: string) => void
  readonly info: (message: string) => void
}

/**
 * Reads the files now and at each reload. They are read instead of watched, because a Kubernetes volume swaps a symbolic link
 * above the file, which a watch on the file does not report. A file that is missing or empty leaves the value unchanged, so
 * that a half-written secret stops no request.
 */
export function createLiveValues(files: readonly FileValue[], parts: LiveValuesParts): ReloadedValues {
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
      parts.warn(`${problem}; the previous value is kept`)
    }
  }

  files.forEach(readAgain)
  return {
    read: (field, configured) => values.get(field) ?? configured,
    version: () => version,
    texts: () => [...seen],
    reload: async () => files.forEach(readAgain),
  }
}
