import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import type { Overview } from '../../session/overview.ts'

const stream = { path: '/v1/organization/overview/stream', event: 'tick' } as const

/** The figures of this second; those of the overview until the first one comes. */
export function useLiveFigures(loaded: Overview['now']): Overview['now'] {
  const [now, setNow] = useState<Overview['now']>()
  useLive(stream, (data) => setNow(data as Overview['now']))
  return now ?? loaded
}
