/** Which nodes are alive. This is known by their heartbeats alone, so their clocks may differ. */
export type ClusterMembership = {
  /** Nodes that share the limits, this one included. */
  count(): number
  isAlive(nodeId: string): boolean
}

/** The membership of a single node. */
export const singleNode = (ownId: string): ClusterMembership => ({
  count: () => 1,
  isAlive: (nodeId) => nodeId === ownId,
})
