/** The kinds of objects that costs are of. `key` also finds administrator keys, which the playground calls with. */
export type NamedKind = 'project' | 'key'

/** Reads the names of objects of an organization. What does not exist has none. */
export type NamesOf = (
  organizationId: string,
  kind: NamedKind,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, string>>
