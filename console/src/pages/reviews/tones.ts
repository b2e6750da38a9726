import type { Tone } from '../../kit/badge.tsx'
import type { Appeal } from './queries.ts'

export const stateTones: Readonly<Record<Appeal['state'], Tone>> = {
  open: 'none',
  overturned: 'warning',
  upheld: 'allow',
  dismissed: 'none',
  expired: 'none',
}
