import { shortHash } from './tool-ids.ts'

/** Names of tools as the upstream may see them, and the way back to the caller's. */
export type ToolNames = {
  toUpstream(name: string): string
  toCaller(name: string): string
}

const allowed = /^[A-Za-z0-9_-]{1,64}$/

/** Vendors take 64 letters, digits, `_` and `-`; callers also bring dots, slashes and long prefixes. */
export function createToolNames(names: Iterable<string>): ToolNames {
  const callers = new Map<string, string>()
  for (const name of names) if (!allowed.test(name)) callers.set(shorten(name), name)
  return {
    toUpstream: (name) => (allowed.test(name) ? name : shorten(name)),
    toCaller: (name) => callers.get(name) ?? name,
  }
}

/** Still readable for the model, and unique by its hash. */
const shorten = (name: string): string =>
  `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 51)}_${shortHash(name).slice(0, 12)}`
