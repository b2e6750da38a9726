import { useMay, useMe } from '../../session/session.tsx'
import { words } from '../../words/en.ts'

/** Why the signed-in administrator may not change credits and limits; undefined if it may. */
export function useCreditManager(): string | undefined {
  const { features } = useMe()
  const may = useMay('credits:write')
  if (!may) return words.limits.lacksWrite
  return features.credits ? undefined : words.limits.onlyOperator
}
