/** A table with the names of the tables that its foreign keys reference. */
export type ReferencingTable = { readonly name: string; readonly references: readonly string[] }

/** Each table after those that it references, because PostgreSQL checks a foreign key when the row is inserted. */
export function inForeignKeyOrder<T extends ReferencingTable>(tables: readonly T[]): T[] {
  const ordered: T[] = []
  let rest = tables
  while (rest.length > 0) {
    const names = new Set(rest.map(({ name }) => name))
    const isReady = ({ references }: T): boolean => references.every((name) => !names.has(name))
    const ready = rest.filter(isReady)
    if (ready.length === 0) throw new Error(`the foreign keys of these tables form a cycle: ${[...names].join(', ')}`)
    ordered.push(...ready)
    rest = rest.filter((table) => !isReady(table))
  }
  return ordered
}
