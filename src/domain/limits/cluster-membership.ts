/** Which nodes run. Known by their beat alone, so that their clocks may disagree. */
export type ClusterMembership = {
  /** Nodes that share the limits, this one included. */
  count(): number
  isAlive(nodeId: string): boolean
}

/** A house of one. */
export const singleNode = (ownId: string): ClusterMembership => ({
  count: () => 1,
  isAlive: (nodeId) => nodeId === ownId,
})
