import { useEffect, useState } from 'react'
import { serverUrl } from '../../api/client.ts'
import type { RequestFilters } from './search.ts'

/**
 * How many requests that match came since the list was loaded. The browser connects again after an interruption, and the
 * server continues by the sequence of the audit log. A hidden tab has no connection, because a browser has only six.
 */
export function useNewRequests(filters: RequestFilters, loadedAtMs: number): number {
  const [count, setCount] = useState(0)
  const isVisible = useIsVisible()
  const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)])).toString()
  useEffect(() => setCount(0), [loadedAtMs, query])
  useEffect(() => {
    if (!isVisible) return undefined
    const source = new EventSource(`${serverUrl}/v1/organization/requests/stream?${query}`)
    source.addEventListener('requests', ({ data }: MessageEvent<string>) => {
      const fresh = JSON.parse(data) as { count: number }
      setCount((before) => before + fresh.count)
    })
    return () => source.close()
  }, [isVisible, query])
  return count
}

function useIsVisible(): boolean {
  const [isVisible, setVisible] = useState(() => document.visibilityState === 'visible')
  useEffect(() => {
    const update = (): void => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}
