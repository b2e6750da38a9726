import { useEffect, useState } from 'react'
import { useLive } from '../../api/live.ts'
import type { RequestFilters } from './search.ts'

/** How many requests that match came since the list was loaded, also those that came while the tab was hidden. */
export function useNewRequests(filters: RequestFilters, loadedAtMs: number): number {
  const [count, setCount] = useState(0)
  const query = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])),
  ).toString()
  const path = `/v1/organization/requests/stream${query === '' ? '' : `?${query}`}`
  useEffect(() => setCount(0), [loadedAtMs, query])
  useLive({ path, event: 'requests', canContinue: true }, (data) => {
    const fresh = data as { count: number }
    setCount((before) => before + fresh.count)
  })
  return count
}
