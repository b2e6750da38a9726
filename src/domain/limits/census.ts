/** Which nodes run. Known by their beat alone, so that their clocks may disagree. */
export type Census = {
  /** Nodes that share the limits, this one included. */
  count(): number
  isAlive(nodeId: string): boolean
}

/** A house of one. */
export const alone = (ownId: string): Census => ({ count: () => 1, isAlive: (nodeId) => nodeId === ownId })
