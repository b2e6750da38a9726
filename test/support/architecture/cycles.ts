import { innerModuleOf } from './modules.ts'
import type { SourceFile } from './source-tree.ts'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Files with circular imports. */
export const fileCycles = (tree: readonly SourceFile[]): string[] =>
  knotIn(new Map(tree.map(({ path, imports }) => [path, new Set(imports)])))

/** Modules of the domain with circular imports, even if no two files have them. */
export function domainCycles(tree: readonly SourceFile[]): string[] {
  const rooms = new Map<string, Set<string>>()
  for (const { path, imports } of tree) {
    const room = innerModuleOf('domain', path)
    if (room === undefined) continue
    const needed = rooms.get(room) ?? new Set<string>()
    rooms.set(room, needed)
    for (const target of imports) {
      const other = innerModuleOf('domain', target)
      if (other !== undefined && other !== room) needed.add(other)
    }
  }
  return knotIn(rooms)
}

/** Repeatedly removes nodes without outgoing or incoming edges. The remaining ones are part of cycles. */
function knotIn(graph: Graph): string[] {
  let rest = new Set(graph.keys())
  for (;;) {
    const isNeeded = (name: string): boolean => [...rest].some((other) => graph.get(other)?.has(name))
    const isHeld = (name: string): boolean => [...(graph.get(name) ?? [])].some((other) => rest.has(other))
    const tighter = new Set([...rest].filter((name) => isNeeded(name) && isHeld(name)))
    if (tighter.size === rest.size) return [...rest].sort()
    rest = tighter
  }
}
