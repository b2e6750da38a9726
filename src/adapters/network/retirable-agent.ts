import type { Agent, Dispatcher } from 'undici'

/** A connection pool that can be replaced while calls still use it. */
export type RetirableAgent = Pick<Dispatcher, 'dispatch'> & {
  /** Closes each connection when its call ends. A call that comes later gets a connection of its own. */
  retire(): void
  /** Closes the connections at once. */
  destroy(): Promise<void>
}

/**
 * A request keeps the upstreams that it started with, and may call one of them after it was changed or deleted: while its
 * rules are evaluated, or when it fails over. So a retired pool still opens connections, and keeps none of them.
 */
export function createRetirableAgent(create: () => Agent): RetirableAgent {
  const agent = create()
  let isRetired = false
  const closeAfterCalls = (closing: Agent): void => void closing.close().catch(() => {})
  return {
    dispatch(options, handler) {
      if (!isRetired) return agent.dispatch(options, handler)
      const once = create()
      const isAccepted = once.dispatch(options, handler)
      closeAfterCalls(once)
      return isAccepted
    },
    retire() {
      if (isRetired) return
      isRetired = true
      closeAfterCalls(agent)
    },
    destroy: () => agent.destroy(),
  }
}
